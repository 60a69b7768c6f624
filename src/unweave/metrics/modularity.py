"""Modularity: does each latent depend on at most one factor?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.metrics.estimators.information import latent_information
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.inputs import Binning, Codes, Factors, Floats, LabelResult, labelled
from unweave.metrics.scoring.vectors import Groups, Joint
from unweave.settings import Bins


@dataclass(frozen=True, eq=False)
class Modularity(LabelResult):
    """The score, the modularity of each latent and the mutual information."""

    score: float
    per_latent: Floats  # (D,), 0 for a latent without information
    mutual_information: Floats  # (D, varying factors), nats


def modularity(
    codes: Codes,
    factors: Factors,
    *,
    bins: Bins = 20,
    kinds: Kinds = None,
    factor_bins: Bins = 20,
    binning: Binning = "quantile",
    groups: Groups = None,
    joint: Joint = "pca",
) -> Modularity:
    r"""Compute the mean over latents of :math:`1 - \sum_{k \ne k^*} I_{jk}^2 / (I_{jk^*}^2 (K - 1))`.

    Ridgeway & Mozer 2018. Locatello et al. 2019 use 20 bins, Rhodes & Lee 2021 use 5. A latent without any information
    counts as 0, as in disentanglement_lib, so that unused latents lower the score; ``per_latent`` shows which. Constant
    factors are left out and not counted in K, where disentanglement_lib counts them; at least two must vary.

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
        The mean over latents, the modularity of each latent, and the mutual information.

    Examples:
        >>> import torch
        >>> from unweave.metrics import modularity
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> modularity(factors, factors).score
        1.0
        >>> mixed = torch.stack([factors.sum(1), factors[:, 0] - factors[:, 1]], dim=1)  # both know both
        >>> round(modularity(mixed, factors).score, 2)
        0.62
    """
    sample = labelled(
        "modularity",
        codes,
        factors,
        kinds=kinds,
        factor_bins=factor_bins,
        binning=binning,
        factors_at_least=2,
        sparse=True,
    )
    information = latent_information(sample, groups, joint, bins=bins)[:, sample.varying]
    squared = information**2
    best = squared.max(1)  # (D,)
    rest = (squared.sum(1) - best) / (squared.shape[1] - 1)
    per_latent = np.where(best > 0, 1 - np.divide(rest, best, out=np.zeros_like(rest), where=best > 0), 0.0)
    return Modularity(float(per_latent.mean()), per_latent, information, missing=sample.missing)
