"""Do disentangled representations need fewer labels? See Locatello et al. 2019, sec. 5.6, figures 13 and 14."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from unweave.questions._question import Question, correlate, draw_correlations
from unweave.study.columns import Over, choose_metrics, choose_scores, read_runs

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

    Statistical efficiency is the mean accuracy with 100 labels divided by that with 10,000. A ratio with a divisor of 0
    is NaN. A model can be efficient because it learns nothing from more labels: see :func:`downstream_agreement` beside
    it.

    Args:
        table: Runs with ``data``, ``recipe``, ``strength``, ``seed``, at least one metric and one statistical
            efficiency.
        metrics: The columns of metrics; by default all disentanglement metrics of the table.
        efficiencies: Columns with this ratio, by default those of Unweave's ``downstream``, or a dictionary from a name
            to the two columns of accuracies that are divided, such as
            ``{"logistic": ("accuracy_100", "accuracy_10000")}``.
        over: ``"models"`` correlates one value per model, ``"medians"`` the medians over seeds.

    Returns:
        One row per data set, metric and efficiency: ``data``, ``metric``, ``efficiency``, ``correlation``, ``count``.
        The correlation is NaN for fewer than three models or if one of the two is constant.

    Examples:
        >>> import pandas
        >>> from unweave.questions import statistical_efficiency
        >>> table = pandas.DataFrame({
        ...     "data": "dsprites", "recipe": "beta_vae", "strength": 1.0, "seed": [0, 1, 2],
        ...     "mig": [0.1, 0.2, 0.3], "few": [0.3, 0.4, 0.6], "many": [0.6, 0.7, 0.8]})
        >>> statistical_efficiency(table, efficiencies={"trees": ("few", "many")})["correlation"].tolist()
        [1.0]
    """
    runs, metrics, names = read_efficiencies("statistical_efficiency", table, metrics, efficiencies)
    return correlate(runs, metrics, names, over, ("metric", "efficiency"))


def read_efficiencies(
    question: str,
    table: pandas.DataFrame,
    metrics: Sequence[str] | None,
    efficiencies: Sequence[str] | Ratios | None,
) -> tuple[pandas.DataFrame, list[str], list[str]]:
    """Read the statistical efficiencies of runs.

    Args:
        question: The name of the question, for errors.
        table: The runs.
        metrics: The columns of metrics; by default all disentanglement metrics of the table.
        efficiencies: Columns with the ratio, or a dictionary from a name to the two columns that are divided.

    Returns:
        The runs with their efficiencies, the metrics, and the names of the efficiencies.
    """
    metrics = choose_metrics(question, table, metrics)
    if not isinstance(efficiencies, Mapping):
        names = choose_scores(question, table, efficiencies, EFFICIENCIES, option="efficiencies")
        return read_runs(question, table, [*metrics, *names]), metrics, names
    parts = [column for pair in efficiencies.values() for column in pair]
    runs = read_runs(question, table, [*metrics, *parts])
    for name, (few, many) in efficiencies.items():
        runs[name] = runs[few] / runs[many].where(runs[many] > 0)
    return runs, metrics, list(efficiencies)


STATISTICAL_EFFICIENCY = Question(
    "statistical_efficiency",
    "Statistical efficiency",
    asks="Do models with higher scores need fewer labels?",
    reads="Spearman's rank correlation times 100 of each metric with the accuracy from 100 labels divided by "
    "that from 10,000 labels, one matrix per data set.",
    table=statistical_efficiency,
    draw=partial(draw_correlations, rows="efficiency", columns="metric", panels="data"),
    paper="Locatello et al. 2019, sec. 5.6",
)
