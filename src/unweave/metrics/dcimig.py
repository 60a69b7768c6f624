"""DCIMIG: how much information about the factors is held by latents that are specific to one factor?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.metrics.estimators.information import entropies, latent_information, top_two
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.inputs import Binning, Codes, Factors, Floats, LabelResult, labelled
from unweave.metrics.scoring.vectors import Groups, Joint
from unweave.settings import Bins


@dataclass(frozen=True, eq=False)
class DCIMIG(LabelResult):
    """The score, the largest gap of each factor and the mutual information."""

    score: float
    per_factor: Floats  # (varying factors,), nats: the largest gap of a latent assigned to the factor
    mutual_information: Floats  # (D, varying factors), nats


def dcimig(
    codes: Codes,
    factors: Factors,
    *,
    bins: Bins = 20,
    kinds: Kinds = None,
    factor_bins: Bins = 20,
    binning: Binning = "quantile",
    groups: Groups = None,
    joint: Joint = "pca",
) -> DCIMIG:
    """Compute the sum of the factors' largest gaps over the sum of their entropies (Sepliarskaia et al. 2019).

    Each latent is assigned to the factor it has the most mutual information with; its gap is that information minus
    the information about its second-best factor. Constant factors are left out.

    Args:
        codes: The codes (N, D).
        factors: The values of the factors (N, K), NaN or None where one is missing.
        bins: The number of bins of equal width for each latent.
        kinds: The kind of each factor, categorical, ordered or continuous, as a list or by column; by default
            columns of floats are continuous.
        factor_bins: The number of bins that serve as classes of a continuous factor.
        binning: Whether these bins have equal counts (``"quantile"``) or equal ``"width"``.
        groups: The columns of each latent that is a vector, or the number of columns per latent.
        joint: The information of a vector: that of its first principal component (``"pca"``, as VCT, DisDiff and
            EncDiff report), or Ross's estimate for the whole vector with 10 ``"neighbours"``.

    Returns:
        The score, the largest gap of each factor, and the mutual information.

    Examples:
        >>> import torch
        >>> from unweave.metrics import dcimig
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> round(dcimig(factors, factors).score, 2)
        1.0
        >>> mixed = torch.stack([factors.sum(1), factors[:, 0] - factors[:, 1]], dim=1)  # both know both
        >>> round(dcimig(mixed, factors).score, 2)
        0.07
    """
    sample = labelled("dcimig", codes, factors, kinds=kinds, factor_bins=factor_bins, binning=binning, sparse=True)
    classes = sample.factors[:, sample.varying]
    information = latent_information(sample, groups, joint, bins=bins)[:, sample.varying]  # (D, K)
    best, second = top_two(information, axis=1)
    gaps = np.zeros_like(information)
    gaps[np.arange(len(best)), information.argmax(1)] = best - second
    per_factor = gaps.max(0)
    return DCIMIG(float(per_factor.sum() / entropies(classes).sum()), per_factor, information, missing=sample.missing)
