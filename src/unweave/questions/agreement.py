"""How much do disentanglement metrics agree? See Locatello et al. 2019, sec. 5.3, figures 5 and 6."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unweave.questions.points import pair_points
from unweave.questions.ranks import correlate
from unweave.questions.runs import Over, choose_scores, read_runs, supervised_metrics

if TYPE_CHECKING:
    import pandas


def metric_agreement(
    table: pandas.DataFrame, *, metrics: Sequence[str] | None = None, over: Over = "models"
) -> pandas.DataFrame:
    """Spearman's rank correlation between every two metrics on each data set (figure 6).

    Needs ``data``, ``recipe``, ``strength``, ``seed`` and at least two metrics; by default all disentanglement metrics
    of Unweave that the table has. The paper does not say whether figure 6 is computed over models or over medians of
    seeds. The default is one value per model, as in the scatter plots of figure 5; ``over="medians"`` takes the median
    over seeds for each method and strength. Ties have average ranks.

    Returns one row per data set and ordered pair: ``data``, ``metric``, ``other``, ``correlation``, ``count``. The
    correlation is NaN for fewer than three models or if a metric is constant.
    """
    metrics = choose_scores("metric_agreement", table, metrics, supervised_metrics(), at_least=2)
    return correlate(read_runs("metric_agreement", table, metrics), metrics, metrics, over, ("metric", "other"))


def metric_pairs(table: pandas.DataFrame, *, metrics: Sequence[str] | None = None) -> pandas.DataFrame:
    """Every two metrics of every model, as points for scatter plots (figure 5).

    Needs the columns of :func:`metric_agreement`. Returns one row per model and unordered pair of metrics: ``data``,
    ``recipe``, ``strength``, ``seed``, ``x``, ``y`` (names of the metrics), ``x_value``, ``y_value``.
    """
    metrics = choose_scores("metric_pairs", table, metrics, supervised_metrics(), at_least=2)
    runs = read_runs("metric_pairs", table, metrics)
    return pair_points(runs, [(one, other) for i, one in enumerate(metrics) for other in metrics[i + 1 :]])
