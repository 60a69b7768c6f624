"""OMES: does a change of one factor change one latent, which no other factor changes?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from unweave.errors import InputError
from unweave.factors import FactorSpace
from unweave.metrics.scoring.chosen_points import Represent, check_positive
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.draws import draws
from unweave.metrics.scoring.inputs import Booleans, Codes, Factors, Floats, Integers, LabelResult, dead
from unweave.metrics.scoring.vectors import Groups
from unweave.settings import NonNegative, Seed, Several, Share

FEWEST = 3  # different pairs that a correlation is computed from


@dataclass(frozen=True, eq=False)
class OMES(LabelResult):
    """The score, its two parts, the score of each factor, and how much each latent changes with each factor."""

    score: float
    overlap: float  # alpha=1: latents that change with one factor only
    multiple_encoding: float  # alpha=0: factors that change one latent only
    per_factor: Floats  # (K,), NaN for a factor that is constant or has too few pairs
    change: Floats  # (D, K), 1 - |correlation| of a latent before and after a change of the factor; NaN without pairs
    active: Booleans  # (D,)
    pairs: Integers  # (K,), different pairs to draw from, -1 if all pairs of the space


def omes(
    represent: Represent | Codes,
    space: FactorSpace | Factors,
    *,
    alpha: Share = 0.5,
    pooling: Literal["average", "max"] = "average",
    pairs: Several = 10_000,
    threshold: NonNegative = 0.05,
    kinds: Kinds = None,
    groups: Groups = None,
    seed: Seed = 0,
) -> OMES:
    r"""Compute the Overlap Multiple Encodings Score (Dapueto et al. 2024).

    For pairs of images that differ in factor k alone, :math:`S_{jk} = 1 - |\rho|`, with the correlation of latent j in
    the first and in the second image: 0 if the latent ignores the factor. The overlap score of latent j for factor k is
    1 minus the mean absolute difference of row j of S from a row with a single 1 at k; the multiple encoding score is
    the same of column k with a single 1 at j. Each is multiplied by :math:`S_{jk}`, averaged over latents with the
    weights :math:`S_{jk}` (or its maximum over latents is taken), and the two are added with the weights alpha and
    1 - alpha. Latents with a standard deviation below the threshold are left out. If none is left, the score is 0.

    The two values of a pair differ, so that even of a perfect code they correlate by -1 / (n - 1) for a factor of n
    values. A factor with two values therefore scores 0, and one with three at most one half.

    Args:
        represent: A function from points (n, K) of the space to codes (n, D); or codes (N, D).
        space: The space to draw pairs from; or the factors (N, K) of the codes. Their pairs are rows that agree in all
            factors but one; a factor with fewer than 3 such pairs is left out.
        alpha: The weight of the overlap score.
        pooling: Whether latents are averaged with weights, the authors' default, or only the best counts (``"max"``).
        pairs: The number of pairs that are drawn for each factor.
        threshold: The smallest standard deviation of a latent that is used.
        kinds: The kind of each factor of the codes, as a list or by column; continuous ones are put into 20 bins of
            equal counts.
        groups: The columns of each latent of the codes that is a vector, or the number of columns per latent; each is
            replaced by its first principal component.
        seed: The seed of the pairs.

    Returns:
        The score, its parts, that of each factor, and how much each latent changes with each factor.

    Examples:
        >>> import unweave
        >>> from unweave.metrics import omes
        >>> space = unweave.FactorSpace.of(x=10, y=10)
        >>> round(omes(lambda points: points.float(), space).score, 2)  # of a perfect code
        0.85
    """
    check_positive("omes", pairs=pairs)
    if pooling not in ("average", "max"):
        raise InputError(f"omes: pooling must be 'average' or 'max', got {pooling!r}.")
    source = draws("omes", represent, space, seed, kinds=kinds, groups=groups, at_least=1)
    codes, _ = source.sample(10_000)
    active = (codes.std(0, ddof=1) >= threshold) & ~dead(codes)
    available = np.zeros(source.factors, np.int64)
    change = np.full((codes.shape[1], source.factors), np.nan)
    for axis in source.axes.tolist():
        available[axis], first, second = source.changed(axis, pairs)
        if not 0 <= available[axis] < FEWEST:
            change[:, axis] = 1 - np.abs(_correlations(first, second))
    used = np.flatnonzero(~np.isnan(change[0]))
    if not len(used):
        raise InputError("omes: no two samples differ in one factor alone; score more samples.")
    parts = _parts(change[np.ix_(active, used)], pooling)  # (2, used factors)
    per_factor = np.full(source.factors, np.nan)
    per_factor[used] = alpha * parts[0] + (1 - alpha) * parts[1]
    return OMES(
        float(per_factor[used].mean()),
        float(parts[0].mean()),
        float(parts[1].mean()),
        per_factor,
        change,
        active,
        available,
        missing=source.missing,
    )


def _correlations(first: Floats, second: Floats) -> Floats:
    """Return the correlation (D,) of each column of two arrays (n, D), 1 if a column is constant."""
    a, b = first - first.mean(0), second - second.mean(0)
    size = np.sqrt((a**2).sum(0)) * np.sqrt((b**2).sum(0))
    return np.asarray(np.divide((a * b).sum(0), size, out=np.ones(len(size)), where=size > 0).clip(-1, 1))


def _parts(change: Floats, pooling: str) -> Floats:
    """Return the overlap score and the multiple encoding score (2, K) of each factor from changes (D, K)."""
    latents, factors = change.shape
    if not latents:
        return np.zeros((2, factors))
    rows, columns = change.sum(1, keepdims=True), change.sum(0, keepdims=True)
    ideal = 1 - 2 * change  # |1 - s| instead of |0 - s| where the single 1 is
    overlap, encoding = 1 - (rows + ideal) / factors, 1 - (columns + ideal) / latents
    both = np.stack([overlap, encoding]) * change  # (2, D, K)
    if pooling == "max":
        return np.asarray(both.max(1))
    return np.asarray(np.divide((both * change).sum(1), columns, out=np.zeros((2, factors)), where=columns > 0))
