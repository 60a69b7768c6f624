"""Selectivity: when one factor changes alone, do latents change that no other factor changes?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.errors import InputError
from unweave.factors import FactorSpace
from unweave.metrics.scoring.chosen_points import Represent, check_positive
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.draws import Pool, draws
from unweave.metrics.scoring.inputs import Codes, Factors, Floats, Integers, LabelResult, dead
from unweave.metrics.scoring.sparse_codes import SparseCodes
from unweave.metrics.scoring.vectors import Groups
from unweave.settings import Seed, Several


@dataclass(frozen=True, eq=False)
class Selectivity(LabelResult):
    """The score, the selectivity of each latent, the factor that changes it most, and by how much each changes it."""

    score: float
    per_latent: Floats  # (D,), NaN for a latent that no pair changes
    best: Integers  # (D,), the factor that changes each latent most
    change: Floats  # (D, K), mean absolute change in standard deviations of the latent; NaN without pairs
    pairs: Integers  # (K,), different pairs to draw from, -1 if all pairs of the space


def selectivity(
    represent: Represent | Codes,
    space: FactorSpace | Factors,
    *,
    pairs: Several = 10_000,
    kinds: Kinds = None,
    groups: Groups = None,
    seed: Seed = 0,
) -> Selectivity:
    r"""Compute how much more one factor changes each latent than the other factors do.

    For pairs of images that differ in factor k alone, as ``space.pairs(n, 1, generator)`` draws them, :math:`c_{jk}` is
    the mean absolute change of latent j, in units of its standard deviation. The selectivity of a latent is the index
    of Morcos et al. 2018, :math:`(c_{(1)} - \bar c) / (c_{(1)} + \bar c)`, with the largest change and the mean of the
    changes by the other factors: 1 if a single factor changes the latent, 0 if all do equally. The score is the mean
    over latents weighted by :math:`c_{(1)} + \bar c`, so that latents that hardly ever change hardly count. If no
    latent changes, it is 0.

    Args:
        represent: A function from points (n, K) of the space to codes (n, D); or codes (N, D).
        space: The space to draw pairs from; or the factors (N, K) of the codes. Their pairs are rows that agree in all
            factors but one; a factor without such pairs is left out.
        pairs: The number of pairs that are drawn for each factor.
        kinds: The kind of each factor of the codes, as a list or by column; continuous ones are put into 20 bins of
            equal counts.
        groups: The columns of each latent of the codes that is a vector, or the number of columns per latent; each is
            replaced by its first principal component.
        seed: The seed of the pairs.

    Returns:
        The score, the selectivity of each latent, and how much each factor changes it.

    Examples:
        >>> import unweave
        >>> from unweave.metrics import selectivity
        >>> space = unweave.FactorSpace.of(x=10, y=10)
        >>> selectivity(lambda points: points.float(), space).score  # each latent follows one factor
        1.0
    """
    check_positive("selectivity", pairs=pairs)
    source = draws("selectivity", represent, space, seed, kinds=kinds, groups=groups, sparse=True)
    std = _deviations(source.codes if isinstance(source, Pool) else source.sample(10_000)[0])
    available = np.zeros(source.factors, np.int64)
    change = np.full((len(std), source.factors), np.nan)
    for axis in source.axes.tolist():
        available[axis], first, second = source.changed(axis, pairs)
        if available[axis]:
            change[:, axis] = _mean_change(first, second) / std
    used = np.flatnonzero(~np.isnan(change[0]))
    if len(used) < 2:
        raise InputError("selectivity: fewer than two factors have samples that differ in them alone; score more.")
    known = change[:, used]
    most = known.max(1)
    others = (known.sum(1) - most) / (len(used) - 1)
    per_latent = np.divide(most - others, most + others, out=np.full(len(most), np.nan), where=most > 0)
    total = float((most + others).sum())
    score = float((most - others).sum()) / total if total > 0 else 0.0
    return Selectivity(score, per_latent, used[known.argmax(1)], change, available, missing=source.missing)


def _deviations(codes: Any) -> Floats:
    """Return the standard deviation of each latent (D,), infinite if it is constant."""
    if isinstance(codes, SparseCodes):
        return codes.scale[1]
    size = np.abs(codes).max(0)
    unit = np.where(size > 0, size, 1.0)  # so that squares do not underflow
    return np.where(dead(codes), np.inf, (codes / unit).std(0) * unit)


def _mean_change(first: Any, second: Any) -> Floats:
    """Return the mean absolute difference (D,) of two arrays (n, D) or samples of sparse codes."""
    if isinstance(first, SparseCodes):
        return np.asarray(abs(first.matrix - second.matrix).mean(0), np.float64).reshape(-1)
    return np.asarray(np.abs(first - second).mean(0), np.float64)
