"""EDI: how exclusively does each latent serve one factor, and each factor rely on one latent?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from unweave.errors import InputError, whole
from unweave.metrics.estimators.information import entropies
from unweave.metrics.estimators.neighbours import neighbour_table
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.inputs import (
    Codes,
    Factors,
    Floats,
    Labelled,
    LabelResult,
    check_seed,
    labelled,
    standardised,
    subsample,
)
from unweave.metrics.scoring.vectors import Groups, columns_of
from unweave.settings import Count, Seed

EPSILON = 1e-10  # as in the authors' code: if a latent is the best of two factors, the one it knows more about wins
ROWS = 10_000  # neighbours are searched among at most so many
Captured = Literal["max", "sum", "neighbours"]


@dataclass(frozen=True, eq=False)
class EDI(LabelResult):
    """The three scores, and the share of the captured information that they are computed from."""

    modularity: float
    compactness: float
    explicitness: float
    share: Floats  # (D, varying factors): information of a latent over that of all latents
    explicitness_per_factor: Floats  # (varying factors,)

    @property
    def score(self) -> float:
        """Modularity, as for InfoMEC."""
        return self.modularity


def edi(
    codes: Codes,
    factors: Factors,
    *,
    captured: Captured = "max",
    neighbours: Count = 3,
    kinds: Kinds = None,
    groups: Groups = None,
    seed: Seed = 0,
) -> EDI:
    r"""Compute modularity, compactness and explicitness from the exclusivity of information (Julka et al. 2024).

    With :math:`S_{jk} = I(z_j; f_k) / I(z; f_k)`, the exclusivity of a row or column of S is its largest entry minus
    the root mean square of the others. Modularity gives the exclusivity of each latent to its best factor, at most 1 in
    total per factor, and averages over factors. Compactness is the mean exclusivity of the factors. Explicitness is the
    mean of :math:`I(z; f_k) / H(f_k)`, or of :math:`1 - \\exp(-2 I)` for continuous factors, which have no entropy.

    Information is estimated by neighbours. That of all latents together, :math:`I(z; f_k)`, is by default the largest
    of a single latent. The paper trains a network for it (MINE), whose estimate changes with every training; its code
    has "max" and "sum" as well, and uses neighbours for fewer than four latents. Constant factors are left out. With a
    single factor or latent, the other entries count as 0. From samples above 10,000, that many are drawn.

    Args:
        codes: The codes (N, D).
        factors: The values of the factors (N, K), NaN or None where one is missing.
        captured: How the information of all latents together is found: the ``"max"`` or the ``"sum"`` over latents, or
            the estimate by ``"neighbours"`` in all dimensions, which is too low for more than a few latents.
        neighbours: The number of neighbours, 3 in the authors' code.
        kinds: The kind of each factor, as a list or by column; by default columns of floats are continuous.
        groups: The columns of each latent that is a vector, or the number of columns per latent; their information is
            that of all columns together.
        seed: The seed of the drawn sample and of the noise that separates equal values.

    Returns:
        Modularity, compactness and explicitness, with the matrix that they come from.

    Examples:
        >>> import torch
        >>> from unweave.metrics import edi
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> result = edi(factors, factors)
        >>> round(result.modularity, 2), round(result.compactness, 2), round(result.explicitness, 2)
        (1.0, 1.0, 1.0)
    """
    if captured not in get_args(Captured):
        raise InputError(f"edi: captured must be one of {', '.join(get_args(Captured))}, got {captured!r}.")
    whole("edi: neighbours", neighbours, at_least=1)
    sample = subsample(labelled("edi", codes, factors, kinds=kinds), ROWS, np.random.default_rng(check_seed(seed)))
    if not len(sample.varying):
        raise InputError(
            f"edi: no factor varies in the {ROWS:,} samples that were drawn, as some classes are too rare."
        )
    missing, values = sample.missing, None if sample.values is None else sample.values[:, sample.varying]
    sample = Labelled(standardised(sample.codes)[0], sample.factors[:, sample.varying], values)
    latents = columns_of("edi", groups, sample.codes.shape[1])
    information = neighbour_table(sample, latents, neighbours=neighbours, seed=seed)  # (D, K)
    if captured == "neighbours":
        every = [[column for group in latents for column in group]]
        whole_codes = neighbour_table(sample, every, neighbours=neighbours, seed=seed)[0]  # (K,)
    else:
        whole_codes = information.max(0) if captured == "max" else information.sum(0)
    share = information / (whole_codes + EPSILON)
    entropy = np.where(sample.continuous, 1.0, entropies(sample.factors))
    known = np.where(sample.continuous, -np.expm1(-2 * whole_codes), whole_codes / entropy).clip(0, 1)
    owned = np.zeros_like(share)
    owned[np.arange(len(share)), share.argmax(1)] = _exclusivity(share, axis=1)
    return EDI(
        modularity=float(np.clip(owned.sum(0).clip(max=1).mean(), 0, 1)),
        compactness=float(np.clip(_exclusivity(share, axis=0).mean(), 0, 1)),
        explicitness=float(known.mean()),
        share=share,
        explicitness_per_factor=known,
        missing=missing,
    )


def _exclusivity(share: Floats, axis: int) -> Floats:
    """Return the largest entry along an axis minus the root mean square of the others."""
    best, others = share.max(axis), max(1, share.shape[axis] - 1)
    rest: Floats = np.sqrt(((share**2).sum(axis) - best**2).clip(min=0) / others)
    return np.asarray(best - rest)
