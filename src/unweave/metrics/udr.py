"""Unsupervised disentanglement ranking: do independently trained models agree on what they separate?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unweave.errors import InputError
from unweave.metrics.mcc import correlations
from unweave.metrics.scoring.inputs import Codes, Floats, check_codes, standardised
from unweave.settings import NonNegative


@dataclass(frozen=True, eq=False)
class UDR:
    """The mean over models, the score of each model (M,) and the match of each pair (M, M), NaN on the diagonal."""

    score: float
    per_model: Floats
    pairwise: Floats


def udr(
    codes: Sequence[Codes],
    *,
    kl: Sequence[Codes] | None = None,
    method: Literal["lasso", "spearman"] = "lasso",
    threshold: NonNegative = 0.01,
) -> UDR:
    r"""Compute how closely the latents of each model match those of the others one to one (Duan et al. 2020).

    The score of a model is the median over all other models. The match of two models is the average of the means over
    rows and over columns of :math:`\max^2 / \sum` of a matrix of similarities. Constant latents are left out. A model
    with no latent left scores 0.

    Args:
        codes: M matrices (N, D_m) of the same N images; the numbers of latents may differ.
        kl: The KL divergence of each latent (D_m,) of each model.
        method: ``"lasso"`` takes absolute Lasso weights (α = 0.1, standardised codes) as similarities, ``"spearman"``
            Spearman correlations.
        threshold: Latents whose ``kl`` is at most this are left out.

    Returns:
        The score of each model, with the matches of all pairs.

    Examples:
        >>> import torch
        >>> from unweave.metrics import udr
        >>> codes = torch.randn(500, 3, generator=torch.Generator().manual_seed(0))
        >>> result = udr([codes, -codes.flip(1)])  # two models with the same latents in another order
        >>> [round(score, 2) for score in result.per_model.tolist()]
        [0.9, 0.9]
    """
    if method not in ("lasso", "spearman"):
        raise InputError(f"udr: method must be 'lasso' or 'spearman', got {method!r}.")
    if not isinstance(codes, list | tuple):
        raise InputError(f"udr: codes must be a list of matrices, one per model, got {type(codes).__name__}.")
    if len(codes) < 2:
        raise InputError(f"udr: needs at least 2 models to compare, got {len(codes)}.")
    models = [check_codes("udr", c) for c in codes]
    if len({len(m) for m in models}) > 1:
        raise InputError(f"udr: all models need codes of the same images, got {[len(m) for m in models]} rows.")
    if kl is not None and len(kl) != len(models):
        raise InputError(f"udr: got {len(models)} models but {len(kl)} vectors of KL divergences.")
    alive = []
    for number, model in enumerate(models):
        keep = np.ptp(model, axis=0) > 0
        if kl is not None:
            divergence = np.asarray(kl[number], np.float64).reshape(-1)
            if np.isnan(divergence).any():
                raise InputError(f"udr: the KL divergences of model {number} contain NaN.")
            if len(divergence) != model.shape[1]:
                raise InputError(
                    f"udr: model {number} has {model.shape[1]} latents but {len(divergence)} KL divergences."
                )
            keep &= divergence > threshold
        (scaled,) = standardised(model)
        alive.append(scaled[:, keep])
    pairwise = np.full((len(models), len(models)), np.nan)
    for i, one in enumerate(alive):
        for j, other in enumerate(alive):
            if i != j:
                pairwise[i, j] = _match(one, other, method)
    per_model = np.nanmedian(pairwise, axis=0)
    return UDR(float(per_model.mean()), per_model, pairwise)


def _match(one: Floats, other: Floats, method: str) -> float:
    if not one.shape[1] or not other.shape[1]:
        return 0.0
    if method == "lasso":
        from sklearn.linear_model import Lasso

        weights = np.atleast_2d(Lasso(alpha=0.1).fit(one, other).coef_)
        matrix = np.abs(weights).T  # (latents of one, of the other)
    else:
        from scipy.stats import rankdata

        matrix = np.abs(correlations(rankdata(one, axis=0), rankdata(other, axis=0)))
    shares = []
    for axis in (0, 1):
        total = matrix.sum(axis)
        shares.append(np.divide(matrix.max(axis) ** 2, total, out=np.zeros_like(total), where=total > 0).mean())
    return float(np.mean(shares))
