"""Minimality and sufficiency: does a latent hold only its factor, and does a latent hold all of a factor?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.metrics.estimators.information import discretize, entropies, information_table
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.inputs import Binning, Codes, Factors, Floats, LabelResult, labelled
from unweave.metrics.scoring.vectors import Groups
from unweave.settings import Bins


@dataclass(frozen=True, eq=False)
class MinimalitySufficiency(LabelResult):
    """The two scores, that of each latent and factor, and the mutual information."""

    minimality: float
    sufficiency: float
    per_latent: Floats  # (D,), minimality, NaN for a constant latent
    per_factor: Floats  # (K,), sufficiency, NaN for a constant factor
    mutual_information: Floats  # (D, K), nats

    @property
    def score(self) -> float:
        """Minimality, which asks for separation; sufficiency asks for information."""
        return self.minimality


def minimality_sufficiency(
    codes: Codes,
    factors: Factors,
    *,
    bins: Bins = 15,
    kinds: Kinds = None,
    factor_bins: Bins = 20,
    binning: Binning = "quantile",
    groups: Groups = None,
) -> MinimalitySufficiency:
    r"""Compute the mean over latents of :math:`\max_k I(z_j; f_k) / H(z_j)` and over factors of
    :math:`\max_j I(z_j; f_k) / H(f_k)`.

    Almudévar & Ortega 2024. A latent is minimal if it holds nothing but one factor, and a factor has a sufficient
    latent if one latent holds all of it. Neither compares factors with each other, so that both can be 1 although the
    factors depend on each other. Codes are discretised into bins of equal width, 15 in the authors' code. Constant
    latents and factors have no entropy and are left out, where that code divides by 0; if all latents are constant,
    minimality is 0.

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
        Minimality and sufficiency, that of each latent and factor, and the mutual information.

    Examples:
        >>> import torch
        >>> from unweave.metrics import minimality_sufficiency
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> first = minimality_sufficiency(factors[:, :1], factors)  # the second factor is in no latent
        >>> round(first.minimality, 2), round(first.sufficiency, 2)
        (1.0, 0.5)
    """
    sample = labelled(
        "minimality_sufficiency",
        codes,
        factors,
        kinds=kinds,
        factor_bins=factor_bins,
        binning=binning,
        groups=groups,
        sparse=True,
    )
    binned = discretize(sample.codes, bins)
    information = information_table(binned, sample.factors)  # (D, K)
    per_latent = _share(information.max(1), entropies(binned))
    per_factor = _share(information.max(0), entropies(sample.factors))
    alive = ~np.isnan(per_latent)
    return MinimalitySufficiency(
        minimality=float(per_latent[alive].mean()) if alive.any() else 0.0,
        sufficiency=float(np.nanmean(per_factor)),
        per_latent=per_latent,
        per_factor=per_factor,
        mutual_information=information,
        missing=sample.missing,
    )


def _share(information: Floats, entropy: Floats) -> Floats:
    return np.asarray(np.divide(information, entropy, out=np.full(len(entropy), np.nan), where=entropy > 1e-12))
