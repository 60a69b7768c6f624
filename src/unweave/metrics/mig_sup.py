"""MIG-sup: does each latent encode one factor, and no other? The mutual information gap per latent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from unweave.errors import InputError
from unweave.metrics.estimators.information import discretize, entropies, information_table, top_two
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.inputs import Binning, Codes, Factors, Floats, LabelResult, labelled
from unweave.metrics.scoring.vectors import Groups
from unweave.settings import Bins


@dataclass(frozen=True, eq=False)
class MIGSup(LabelResult):
    """The score, the gap of each latent and the normalised information."""

    score: float
    per_latent: Floats  # (D,)
    normalised_information: Floats  # (D, varying factors)


def mig_sup(
    codes: Codes,
    factors: Factors,
    *,
    bins: Bins = 20,
    normaliser: Literal["factor", "code"] = "factor",
    kinds: Kinds = None,
    factor_bins: Bins = 20,
    binning: Binning = "quantile",
    groups: Groups = None,
) -> MIGSup:
    r"""Compute the mean over latents of best minus second-best factor in :math:`I(z_j; f_k) / H(f_k)` (Li et al. 2020).

    Constant latents count with a gap of 0. Constant factors are left out; at least two must vary.

    Args:
        codes: The codes (N, D).
        factors: The values of the factors (N, K), NaN or None where one is missing.
        bins: The number of bins of equal width for each latent.
        normaliser: ``"factor"`` divides by the entropy of the factor; ``"code"`` divides by that of the binned latent,
            as the library of Carbonneau et al. 2022 does.
        kinds: The kind of each factor, categorical, ordered or continuous, as a list or by column; by default
            columns of floats are continuous.
        factor_bins: The number of bins that serve as classes of a continuous factor.
        binning: Whether these bins have equal counts (``"quantile"``) or equal ``"width"``.
        groups: The columns of each latent that is a vector, or the number of columns per latent; each is replaced by
            its first principal component.

    Returns:
        The mean gap and the gap of each latent.

    Examples:
        >>> import torch
        >>> from unweave.metrics import mig_sup
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> mig_sup(factors, factors).score
        1.0
        >>> mixed = torch.stack([factors.sum(1), factors[:, 0] - factors[:, 1]], dim=1)  # both know both
        >>> round(mig_sup(mixed, factors).score, 2)
        0.1
    """
    if normaliser not in ("factor", "code"):
        raise InputError(f"mig_sup: normaliser must be 'factor' or 'code', got {normaliser!r}.")
    sample = labelled(
        "mig_sup",
        codes,
        factors,
        kinds=kinds,
        factor_bins=factor_bins,
        binning=binning,
        groups=groups,
        factors_at_least=2,
        sparse=True,
    )
    binned, classes = discretize(sample.codes, bins), sample.factors[:, sample.varying]
    information = information_table(binned, classes)
    entropy = entropies(classes)[None] if normaliser == "factor" else entropies(binned)[:, None]
    normalised = np.divide(information, entropy, out=np.zeros_like(information), where=entropy > 0)
    best, second = top_two(normalised, axis=1)
    return MIGSup(float(np.mean(best - second)), best - second, normalised, missing=sample.missing)
