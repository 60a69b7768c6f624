"""JEMMIG: the mutual information gap, minus what the best latent encodes besides its factor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.metrics.estimators.information import discretize, entropies, information_table, joint_entropies, top_two
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.inputs import Binning, Codes, Factors, Floats, LabelResult, labelled
from unweave.metrics.scoring.vectors import Groups
from unweave.settings import Bins

TIE = 1e-9  # nats; rounding must not choose between latents that know equally much


@dataclass(frozen=True, eq=False)
class JEMMIG(LabelResult):
    """The score, the score of each factor and the joint entropies."""

    score: float
    per_factor: Floats  # (varying factors,)
    joint_entropy: Floats  # (varying factors,), nats, of each factor with its best latent


def jemmig(
    codes: Codes,
    factors: Factors,
    *,
    bins: Bins = 20,
    kinds: Kinds = None,
    factor_bins: Bins = 20,
    binning: Binning = "quantile",
    groups: Groups = None,
) -> JEMMIG:
    r"""Compute the mean over factors of :math:`1 - (H(f_k, z^*) - I_{(1)k} + I_{(2)k}) / (H(f_k) + \log B)`.

    Do & Tran 2020. The joint entropy is small if the best latent encodes nothing but its factor. The score is
    normalised to [0, 1] by its maximum with B bins, as in Carbonneau et al. 2022. A factor without information in any
    latent scores 0, where the formula would reward constant latents for encoding nothing else. Constant factors are
    left out.

    Args:
        codes: The codes (N, D).
        factors: The values of the factors (N, K), NaN or None where one is missing.
        bins: The number of bins of equal width for each latent.
        kinds: The kind of each factor, categorical, ordered or continuous, as a list or by column; by default
            columns of floats are continuous.
        factor_bins: The number of bins that serve as classes of a continuous factor.
        binning: Whether these bins have equal counts (``"quantile"``) or equal ``"width"``.
        groups: The columns of each latent that is a vector, or the number of columns per latent; each is replaced by
            its first principal component.

    Returns:
        The mean score, that of each factor, and the joint entropies.

    Examples:
        >>> import torch
        >>> from unweave.metrics import jemmig
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> round(jemmig(factors, factors).score, 2)
        1.0
        >>> mixed = torch.stack([factors.sum(1), factors[:, 0] - factors[:, 1]], dim=1)  # both know both
        >>> round(jemmig(mixed, factors).score, 2)
        0.33
    """
    sample = labelled(
        "jemmig", codes, factors, kinds=kinds, factor_bins=factor_bins, binning=binning, groups=groups, sparse=True
    )
    binned, classes = discretize(sample.codes, bins), sample.factors[:, sample.varying]
    information = information_table(binned, classes)  # (D, K)
    best, second = top_two(information, axis=0)
    chosen = (information >= best - TIE).argmax(0)  # (K,), the first of latents that know equally much
    joint = joint_entropies(binned, classes)[chosen, np.arange(len(best))]  # (K,)
    per_factor = 1 - (joint - best + second) / (entropies(classes) + np.log(bins))
    per_factor = np.where(best > 0, per_factor, 0.0)
    return JEMMIG(float(per_factor.mean()), per_factor, joint, missing=sample.missing)
