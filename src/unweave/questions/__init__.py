"""The questions of a study: one file per question, with its table, its drawing and its sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.errors import InputError, unknown
from unweave.figures import FIGURES, Figure
from unweave.questions._question import Question
from unweave.questions.beating_random import BEATING_RANDOM, beating_random
from unweave.questions.best_without_labels import BEST_WITHOUT_LABELS, best_without_labels
from unweave.questions.downstream_agreement import DOWNSTREAM_AGREEMENT, downstream_agreement
from unweave.questions.efficiency_points import EFFICIENCY_POINTS, efficiency_points
from unweave.questions.mean_against_sampled import MEAN_AGAINST_SAMPLED, mean_against_sampled
from unweave.questions.method_differences import METHOD_DIFFERENCES, method_differences
from unweave.questions.metric_agreement import METRIC_AGREEMENT, metric_agreement
from unweave.questions.metric_pairs import METRIC_PAIRS, metric_pairs
from unweave.questions.picked_by_udr import PICKED_BY_UDR, picked_by_udr
from unweave.questions.score_ranges import SCORE_RANGES, score_ranges
from unweave.questions.scores_by_strength import SCORES_BY_STRENGTH, scores_by_strength
from unweave.questions.statistical_efficiency import STATISTICAL_EFFICIENCY, statistical_efficiency
from unweave.questions.total_correlation_by_strength import TOTAL_CORRELATION_BY_STRENGTH, total_correlation_by_strength
from unweave.questions.transfer_between_data import TRANSFER_BETWEEN_DATA, transfer_between_data
from unweave.questions.transfer_of_scores import TRANSFER_OF_SCORES, transfer_of_scores
from unweave.questions.unsupervised_agreement import UNSUPERVISED_AGREEMENT, unsupervised_agreement
from unweave.questions.variance_explained import VARIANCE_EXPLAINED, variance_explained
from unweave.settings import key_in

if TYPE_CHECKING:
    import pandas

QUESTIONS: dict[str, Question] = {
    question.name: question
    for question in (  # in the order of the sections of Locatello et al. 2019
        TOTAL_CORRELATION_BY_STRENGTH,
        MEAN_AGAINST_SAMPLED,
        METRIC_AGREEMENT,
        METRIC_PAIRS,
        SCORE_RANGES,
        VARIANCE_EXPLAINED,
        METHOD_DIFFERENCES,
        SCORES_BY_STRENGTH,
        UNSUPERVISED_AGREEMENT,
        TRANSFER_BETWEEN_DATA,
        TRANSFER_OF_SCORES,
        BEATING_RANDOM,
        PICKED_BY_UDR,
        BEST_WITHOUT_LABELS,
        DOWNSTREAM_AGREEMENT,
        STATISTICAL_EFFICIENCY,
        EFFICIENCY_POINTS,
    )
}


def answers(table: pandas.DataFrame) -> dict[str, pandas.DataFrame | str]:
    """Ask every question with its default settings: the table that answers it, or why the runs cannot answer it.

    Examples:
        >>> import pandas
        >>> from unweave.questions import answers
        >>> table = pandas.DataFrame({
        ...     "data": "dsprites", "recipe": "beta_vae", "strength": 1.0, "seed": [0, 1, 2],
        ...     "mig": [0.1, 0.2, 0.3], "sap": [0.1, 0.3, 0.2]})
        >>> found = answers(table)
        >>> len(found["metric_agreement"])
        4
        >>> found["picked_by_udr"].partition(". ")[0]
        "picked_by_udr: the table lacks the column 'udr'"
    """
    found: dict[str, pandas.DataFrame | str] = {}
    for name, question in QUESTIONS.items():
        try:
            found[name] = question.table(table)
        except InputError as error:
            found[name] = str(error)
    return found


def all_figures() -> dict[str, Figure]:
    """Return every figure by name: those of runs, data and tables, and those of the questions.

    Examples:
        >>> from unweave.questions import all_figures
        >>> {"traversals", "metric_agreement"} <= all_figures().keys()
        True
    """
    return {**FIGURES, **{name: question.figure for name, question in QUESTIONS.items()}}


def figure_named(name: str) -> Figure:
    """Return the figure of this name, also that of a question; an unknown name is rejected with the closest match.

    Examples:
        >>> from unweave.questions import figure_named
        >>> figure_named("metric_agreement").source, figure_named("traversals").source
        ('table', 'run')
    """
    known = all_figures()
    if (key := key_in(known, name)) not in known:
        raise unknown("figure", name, known)
    return known[key]


__all__ = [
    "QUESTIONS",
    "Question",
    "all_figures",
    "answers",
    "beating_random",
    "best_without_labels",
    "downstream_agreement",
    "efficiency_points",
    "figure_named",
    "mean_against_sampled",
    "method_differences",
    "metric_agreement",
    "metric_pairs",
    "picked_by_udr",
    "score_ranges",
    "scores_by_strength",
    "statistical_efficiency",
    "total_correlation_by_strength",
    "transfer_between_data",
    "transfer_of_scores",
    "unsupervised_agreement",
    "variance_explained",
]
