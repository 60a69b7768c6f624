"""Mutual information gap: is each factor encoded by one latent, and by no other?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.metrics.estimators.information import entropies, latent_information, top_two
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.inputs import Binning, Codes, Factors, Floats, LabelResult, labelled
from unweave.metrics.scoring.vectors import Groups, Joint
from unweave.settings import Bins


@dataclass(frozen=True, eq=False)
class MIG(LabelResult):
    """The score, the gap of each factor and the mutual information."""

    score: float
    per_factor: Floats  # (K,), NaN for a constant factor
    mutual_information: Floats  # (D, K), nats


def mig(
    codes: Codes,
    factors: Factors,
    *,
    bins: Bins = 20,
    kinds: Kinds = None,
    factor_bins: Bins = 20,
    binning: Binning = "quantile",
    groups: Groups = None,
    joint: Joint = "pca",
) -> MIG:
    r"""Compute the mean over factors of :math:`(I_{(1)k} - I_{(2)k}) / H(f_k)`, best minus second-best latent.

    Chen et al. 2018. ``codes`` (N, D), ``factors`` (N, K). Codes are discretised into ``bins`` bins of equal width (20
    in Locatello et al. 2019, 5 in Rhodes & Lee 2021). Constant factors have no entropy and are left out. With a single
    latent, the second best counts as 0.

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
        The mean gap, the gap of each factor, and the mutual information.

    Examples:
        >>> import torch
        >>> from unweave.metrics import mig
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> mig(factors, factors).score  # one latent per factor
        1.0
        >>> mixed = torch.stack([factors.sum(1), factors[:, 0] - factors[:, 1]], dim=1)  # both know both
        >>> round(mig(mixed, factors).score, 2)
        0.0
    """
    sample = labelled("mig", codes, factors, kinds=kinds, factor_bins=factor_bins, binning=binning, sparse=True)
    information = latent_information(sample, groups, joint, bins=bins)
    best, second = top_two(information, axis=0)  # (K,)
    entropy = entropies(sample.factors)
    per_factor = np.divide(best - second, entropy, out=np.full(len(entropy), np.nan), where=entropy > 0)
    return MIG(float(np.nanmean(per_factor)), per_factor, information, missing=sample.missing)
