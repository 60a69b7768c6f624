"""The answers of a study: plain functions from a table of runs to a table, one file per question."""

from unweave.questions.agreement import metric_agreement, metric_pairs
from unweave.questions.applying import ANALYSES, applicable
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

__all__ = [
    "ANALYSES",
    "applicable",
    "beating_random",
    "best_without_labels",
    "downstream_agreement",
    "efficiency_points",
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
