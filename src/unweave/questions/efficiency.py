"""Do disentangled representations need fewer labels? See Locatello et al. 2019, sec. 5.6, figures 13 and 14."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from unweave.questions.points import pair_points
from unweave.questions.ranks import correlate
from unweave.questions.runs import Over, choose_scores, read_runs, supervised_metrics

if TYPE_CHECKING:
    import pandas

EFFICIENCIES = ("downstream.efficiency_logistic", "downstream.efficiency_boosted")
Ratios = Mapping[str, tuple[str, str]]


def statistical_efficiency(
    table: pandas.DataFrame,
    *,
    metrics: Sequence[str] | None = None,
    efficiencies: Sequence[str] | Ratios | None = None,
    over: Over = "models",
) -> pandas.DataFrame:
    """Spearman's rank correlation of statistical efficiency with disentanglement metrics, for each data set.

    Needs ``data``, ``recipe``, ``strength``, ``seed``, at least one metric and one statistical efficiency: the mean
    accuracy with 100 labels divided by that with 10,000. ``efficiencies`` are columns with this ratio, by default those
    of Unweave's ``downstream``, or a dictionary from a name to the two columns of accuracies that are divided, such as
    ``{"logistic": ("accuracy_100", "accuracy_10000")}``. A ratio with a divisor of 0 is NaN. A model can be efficient
    because it learns nothing from more labels: see :func:`downstream_agreement` beside it.

    Returns one row per data set, metric and efficiency: ``data``, ``metric``, ``efficiency``, ``correlation``,
    ``count``. The correlation is NaN for fewer than three models or if one of the two is constant.
    """
    runs, metrics, names = _read("statistical_efficiency", table, metrics, efficiencies)
    return correlate(runs, metrics, names, over, ("metric", "efficiency"))


def efficiency_points(
    table: pandas.DataFrame,
    *,
    metrics: Sequence[str] | None = None,
    efficiencies: Sequence[str] | Ratios | None = None,
) -> pandas.DataFrame:
    """Each metric (x) and statistical efficiency (y) of every model, as points for scatter plots (figures 13 and 14).

    Needs the columns of :func:`statistical_efficiency`. Returns ``data``, ``recipe``, ``strength``, ``seed``, ``x``,
    ``y``, ``x_value``, ``y_value``.
    """
    runs, metrics, names = _read("efficiency_points", table, metrics, efficiencies)
    return pair_points(runs, [(metric, name) for name in names for metric in metrics])


def _read(
    analysis: str,
    table: pandas.DataFrame,
    metrics: Sequence[str] | None,
    efficiencies: Sequence[str] | Ratios | None,
) -> tuple[pandas.DataFrame, list[str], list[str]]:
    metrics = choose_scores(analysis, table, metrics, supervised_metrics())
    if not isinstance(efficiencies, Mapping):
        names = choose_scores(analysis, table, efficiencies, EFFICIENCIES, option="efficiencies")
        return read_runs(analysis, table, [*metrics, *names]), metrics, names
    parts = [column for pair in efficiencies.values() for column in pair]
    runs = read_runs(analysis, table, [*metrics, *parts])
    for name, (few, many) in efficiencies.items():
        runs[name] = runs[few] / runs[many].where(runs[many] > 0)
    return runs, metrics, list(efficiencies)
