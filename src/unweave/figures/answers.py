"""The figure of every analysis of a study, by the name of the analysis."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from unweave.figures.beating import draw_beating_random
from unweave.figures.best import draw_best
from unweave.figures.correlations import (
    draw_downstream_agreement,
    draw_metric_agreement,
    draw_statistical_efficiency,
    draw_transfer_between_data,
    draw_unsupervised_agreement,
)
from unweave.figures.differences import draw_method_differences
from unweave.figures.picking import draw_picked
from unweave.figures.points import (
    draw_efficiency,
    draw_mean_against_sampled,
    draw_metric_pairs,
    draw_transfer_of_scores,
)
from unweave.figures.ranges import draw_score_ranges
from unweave.figures.strengths import draw_scores_by_strength, draw_total_correlation
from unweave.figures.variance import draw_variance_explained

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWN: dict[str, Callable[[Any], Figure]] = {  # analysis: function of its result
    "total_correlation_by_strength": draw_total_correlation,
    "mean_against_sampled": draw_mean_against_sampled,
    "metric_agreement": draw_metric_agreement,
    "metric_pairs": draw_metric_pairs,
    "score_ranges": draw_score_ranges,
    "variance_explained": draw_variance_explained,
    "method_differences": draw_method_differences,
    "scores_by_strength": draw_scores_by_strength,
    "unsupervised_agreement": draw_unsupervised_agreement,
    "transfer_between_data": draw_transfer_between_data,
    "transfer_of_scores": draw_transfer_of_scores,
    "beating_random": draw_beating_random,
    "picked_by_udr": draw_picked,
    "best_without_labels": draw_best,
    "downstream_agreement": draw_downstream_agreement,
    "statistical_efficiency": draw_statistical_efficiency,
    "efficiency_points": draw_efficiency,
}
