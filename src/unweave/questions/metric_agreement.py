"""How much do disentanglement metrics agree? See Locatello et al. 2019, sec. 5.3, figure 6."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from unweave.questions._question import Question, correlate, draw_correlations
from unweave.study.columns import Over, choose_metrics, read_runs

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

    Examples:
        >>> import pandas
        >>> from unweave.questions import metric_agreement
        >>> table = pandas.DataFrame({
        ...     "data": "dsprites", "recipe": "beta_vae", "strength": 1.0, "seed": [0, 1, 2],
        ...     "mig": [0.1, 0.2, 0.3], "sap": [0.1, 0.3, 0.2]})
        >>> metric_agreement(table)[["metric", "other", "correlation"]].values.tolist()
        [['mig', 'mig', 1.0], ['mig', 'sap', 0.5], ['sap', 'mig', 0.5], ['sap', 'sap', 1.0]]
    """
    metrics = choose_metrics("metric_agreement", table, metrics, at_least=2)
    return correlate(read_runs("metric_agreement", table, metrics), metrics, metrics, over, ("metric", "other"))


METRIC_AGREEMENT = Question(
    "metric_agreement",
    "Agreement of metrics",
    asks="Do the metrics rank models in the same order?",
    reads="Spearman's rank correlation times 100 between every two metrics, one matrix per data set.",
    table=metric_agreement,
    draw=partial(draw_correlations, rows="metric", columns="other", panels="data"),
    paper="Locatello et al. 2019, figure 6",
)
