"""Interventional robustness: how little does a latent change when all factors but its own change?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.errors import InputError
from unweave.factors import FactorSpace
from unweave.metrics.estimators.information import discretize
from unweave.metrics.scoring.chosen_points import Represent, check_positive
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.draws import draws
from unweave.metrics.scoring.inputs import Codes, Factors, Floats, Integers, LabelResult, dead
from unweave.metrics.scoring.sparse_codes import SparseCodes
from unweave.metrics.scoring.vectors import Groups
from unweave.settings import Bins, Count, Fraction, Seed


@dataclass(frozen=True, eq=False)
class IRS(LabelResult):
    """The score without constant latents, the robustness of each latent and each pair, and the best factors."""

    score: float
    per_latent: Floats  # (D,), NaN for a constant latent
    robustness: Floats  # (D, K)
    parents: Integers  # (D,), the factor for which each latent is most robust


def irs(
    represent: Represent | Codes,
    space: FactorSpace | Factors,
    *,
    points: Count = 10_000,
    quantile: Fraction = 0.99,
    bins: Bins | None = None,
    kinds: Kinds = None,
    groups: Groups = None,
    seed: Seed = 0,
) -> IRS:
    """Compute the mean over latents of 1 minus their relative deviation while their best factor is fixed.

    Suter et al. 2019. Random points are grouped by the value of a factor. The deviation of a latent is a quantile of
    its distances from the group's mean, averaged over groups, relative to the largest distance from the overall mean.
    Latents are weighted by that largest distance; constant codes score 0. Factors with a single value are left out.

    Args:
        represent: A function from points (n, K) of the space to codes (n, D), as published; or codes (N, D).
        space: The space to draw points from; or the factors (N, K) of the codes, which form a pool to draw from.
        points: The number of points; all rows of a pool that has fewer.
        quantile: The quantile of the distances: 1.0 in the paper, 0.99 in disentanglement_lib.
        bins: The number of bins of equal width that the values of larger factors are merged into, 20 in
            disentanglement_lib; by default none are merged.
        kinds: The kind of each factor of the codes, as a list or by column; continuous ones are put into 20 bins of
            equal counts.
        groups: The columns of each latent of the codes that is a vector, or the number of columns per latent; each is
            replaced by its first principal component.
        seed: The seed of the points.

    Returns:
        The score, the robustness of each latent and of each pair, and the best factor of each latent.

    Examples:
        >>> import torch
        >>> from unweave.metrics import irs
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> irs(factors, factors).score
        1.0
        >>> mixed = torch.stack([factors.sum(1), factors[:, 0] - factors[:, 1]], dim=1)  # both know both
        >>> round(irs(mixed, factors).score, 2)
        0.57
    """
    check_positive("irs", points=points)
    if not 0 < quantile <= 1:
        raise InputError(f"irs: quantile must be above 0 and at most 1, got {quantile}.")
    source = draws("irs", represent, space, seed, kinds=kinds, groups=groups, at_least=1, sparse=True)
    codes, factors = source.sample(max(2, points))
    if isinstance(codes, SparseCodes):
        low, high = (each - codes.moments[0] for each in codes.extremes)
        largest, alive = np.maximum(np.abs(low), np.abs(high)), ~codes.constant
    else:
        largest, alive = np.abs(codes - codes.mean(0)).max(0), ~dead(codes)  # (D,)
    deviations = np.full((codes.shape[1], source.factors), np.nan)
    for axis in source.axes.tolist():
        known = factors[:, axis] >= 0
        values = factors[known, axis]
        if bins is not None:
            values = discretize(values[:, None].astype(np.float64), bins)[:, 0]
        if isinstance(codes, SparseCodes):
            deviations[:, axis] = _sparse_deviations(codes[known], values, quantile)
            continue
        parts = [codes[known][values == value] for value in np.unique(values)]
        deviations[:, axis] = np.mean([np.quantile(np.abs(g - g.mean(0)), quantile, axis=0) for g in parts], axis=0)
    robustness = np.full_like(deviations, np.nan)
    robustness[alive] = 1 - deviations[alive] / largest[alive, None]
    if not alive.any():
        return IRS(0.0, robustness[:, 0], robustness, np.zeros(len(alive), np.int64), missing=source.missing)
    filled = np.where(np.isnan(robustness), -np.inf, robustness)
    per_latent = np.where(alive, filled.max(1), np.nan)
    score = float(np.average(per_latent[alive], weights=largest[alive]))
    return IRS(score, per_latent, robustness, filled.argmax(1), missing=source.missing)


def _sparse_deviations(codes: SparseCodes, values: Integers, quantile: float) -> Floats:
    """Return the mean over groups of equal values (N,) of the quantile of distances from the group's mean (D,).

    Inactive samples of a group have one distance, the absolute mean, which has its place among the sorted others.
    """
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    cell = codes.latents * len(sizes) + group[codes.columns.indices]  # latent and group of each active entry
    cells, place, counts = np.unique(cell, return_inverse=True, return_counts=True)
    place, size = place.reshape(-1), sizes[cells % len(sizes)]
    mean = np.bincount(place, codes.columns.data, len(cells)) / size
    distance, idle, inactive = np.abs(codes.columns.data - mean[place]), np.abs(mean), size - counts
    distance = distance[np.lexsort((distance, place))]
    below = np.bincount(
        np.repeat(np.arange(len(cells)), counts), distance < np.repeat(idle, counts), len(cells)
    ).astype(np.int64)  # nearer than inactive
    starts = np.cumsum(counts) - counts
    wanted = quantile * (size - 1)

    def ranked(rank: Integers) -> Floats:
        entry = starts + np.where(rank < below, rank, rank - inactive).clip(0, counts - 1)
        found: Floats = np.where((rank >= below) & (rank < below + inactive), idle, distance[entry])
        return found

    first = np.floor(wanted).astype(np.int64)
    near, far = ranked(first), ranked(np.minimum(first + 1, size - 1))
    total = np.bincount(cells // len(sizes), near + (far - near) * (wanted - first), codes.shape[1])
    return np.asarray(total / len(sizes), np.float64)
