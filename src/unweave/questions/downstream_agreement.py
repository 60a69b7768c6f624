"""Do disentangled representations help downstream tasks? See Locatello et al. 2019, sec. 5.6, figure 12."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from unweave.names import score_fields
from unweave.questions._question import Question, correlate, draw_correlations
from unweave.study.columns import Over, choose_metrics, choose_scores, read_runs

if TYPE_CHECKING:
    import pandas

TASKS = tuple(
    name for name, field in score_fields("downstream").items() if field.split("_")[0] in ("logistic", "boosted")
)
POOLED_TASKS = ("downstream.score", "downstream")  # mean accuracy with the largest number of labels


def downstream_agreement(
    table: pandas.DataFrame,
    *,
    metrics: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    over: Over = "models",
) -> pandas.DataFrame:
    """Spearman's rank correlation of disentanglement metrics with downstream accuracy, for each data set (figure 12).

    Ties have average ranks. The test sample of the accuracies has 10,000 points in section 5.6 of the paper and 5,000
    in its appendix B; here, accuracies are used as they are.

    Args:
        table: Runs with ``data``, ``recipe``, ``strength``, ``seed``, at least one metric and one column of downstream
            accuracy.
        metrics: The columns of metrics; by default all disentanglement metrics of the table.
        tasks: The columns of accuracy; by default one per classifier and number of labels, as in the paper, or else
            ``downstream.score`` or ``downstream``.
        over: ``"models"`` correlates one value per model, ``"medians"`` the medians over seeds; the paper does not say
            which it does.

    Returns:
        One row per data set, metric and task: ``data``, ``metric``, ``task``, ``correlation``, ``count``. The
        correlation is NaN for fewer than three models or if one of the two is constant.

    Examples:
        >>> import pandas
        >>> from unweave.questions import downstream_agreement
        >>> table = pandas.DataFrame({
        ...     "data": "dsprites", "recipe": "beta_vae", "strength": 1.0, "seed": [0, 1, 2],
        ...     "mig": [0.1, 0.2, 0.3], "downstream": [0.5, 0.7, 0.6]})
        >>> downstream_agreement(table)["correlation"].tolist()
        [0.5]
    """
    metrics = choose_metrics("downstream_agreement", table, metrics)
    known = TASKS if any(name in table for name in TASKS) else POOLED_TASKS
    tasks = choose_scores("downstream_agreement", table, tasks, known, option="tasks")
    runs = read_runs("downstream_agreement", table, [*metrics, *tasks])
    return correlate(runs, metrics, tasks, over, ("metric", "task"))


DOWNSTREAM_AGREEMENT = Question(
    "downstream_agreement",
    "Downstream performance",
    asks="Do higher scores mean more accurate predictions of the factors from the codes?",
    reads="Spearman's rank correlation times 100 of each metric with downstream accuracy, one matrix per data set.",
    table=downstream_agreement,
    draw=partial(draw_correlations, rows="task", columns="metric", panels="data"),
    paper="Locatello et al. 2019, figure 12",
)
