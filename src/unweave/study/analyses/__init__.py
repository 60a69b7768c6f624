"""The answers of a study: plain functions from a table of runs to a table, one file per question."""

from unweave.study.analyses.agreement import metric_agreement, metric_pairs
from unweave.study.analyses.applying import ANALYSES, applicable
from unweave.study.analyses.beating import beating_random
from unweave.study.analyses.best import best_without_labels
from unweave.study.analyses.differences import method_differences
from unweave.study.analyses.downstream import downstream_agreement
from unweave.study.analyses.efficiency import efficiency_points, statistical_efficiency
from unweave.study.analyses.factorisation import mean_against_sampled, total_correlation_by_strength
from unweave.study.analyses.picking import picked_by_udr
from unweave.study.analyses.ranges import score_ranges
from unweave.study.analyses.strengths import scores_by_strength
from unweave.study.analyses.transfer import transfer_between_data, transfer_of_scores
from unweave.study.analyses.unsupervised import unsupervised_agreement
from unweave.study.analyses.variance import variance_explained

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
