"""All analyses by name, and those that a table allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from unweave.errors import InputError
from unweave.questions.agreement import metric_agreement, metric_pairs
from unweave.questions.beating import beating_random
from unweave.questions.best import best_without_labels
from unweave.questions.differences import method_differences
from unweave.questions.downstream import downstream_agreement
from unweave.questions.efficiency import efficiency_points, statistical_efficiency
from unweave.questions.factorisation import mean_against_sampled, total_correlation_by_strength
from unweave.questions.picking import picked_by_udr
from unweave.questions.ranges import score_ranges
from unweave.questions.strengths import scores_by_strength
from unweave.questions.transfer import transfer_between_data, transfer_of_scores
from unweave.questions.unsupervised import unsupervised_agreement
from unweave.questions.variance import variance_explained

if TYPE_CHECKING:
    import pandas

ANALYSES: dict[str, Callable[..., pandas.DataFrame]] = {  # in the order of the paper's sections
    "total_correlation_by_strength": total_correlation_by_strength,
    "mean_against_sampled": mean_against_sampled,
    "metric_agreement": metric_agreement,
    "metric_pairs": metric_pairs,
    "score_ranges": score_ranges,
    "variance_explained": variance_explained,
    "method_differences": method_differences,
    "scores_by_strength": scores_by_strength,
    "unsupervised_agreement": unsupervised_agreement,
    "transfer_between_data": transfer_between_data,
    "transfer_of_scores": transfer_of_scores,
    "beating_random": beating_random,
    "picked_by_udr": picked_by_udr,
    "best_without_labels": best_without_labels,
    "downstream_agreement": downstream_agreement,
    "statistical_efficiency": statistical_efficiency,
    "efficiency_points": efficiency_points,
}


def applicable(table: pandas.DataFrame) -> dict[str, pandas.DataFrame | str]:
    """Apply every analysis with its default settings: its result, or the sentence that says what the table lacks."""
    results: dict[str, pandas.DataFrame | str] = {}
    for name, analysis in ANALYSES.items():
        try:
            results[name] = analysis(table)
        except InputError as error:
            results[name] = str(error)
    return results
