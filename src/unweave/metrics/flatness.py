"""Flatness: do codes along one factor lie on a straight line, evenly spaced, along one latent? (Disent)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.factors import FactorSpace
from unweave.metrics.scoring.chosen_points import Represent, check_positive, codes_of, torch_generator, varying_axes
from unweave.metrics.scoring.inputs import Floats


@dataclass(frozen=True, eq=False)
class Flatness:
    """The mean over factors of width / length; 1 if all codes of a factor lie on a line along one latent."""

    score: float  # width by the Euclidean distance, length by the sum of absolute differences
    l1: float  # both by the sum of absolute differences
    l2: float  # both by the Euclidean distance
    per_factor: Floats  # the score of each factor that varies


def flatness(represent: Represent, space: FactorSpace, *, traversals: int = 1_024, seed: int = 0) -> Flatness:
    """Compare the distance of the farthest codes along a factor with the length of the way through all of them.

    Michlo's Disent. The width is the largest distance of two codes; the length is the mean distance of neighbours times
    their number, where the farthest neighbours are left out, because values may form a circle. Both are averaged over
    traversals before they are divided. A factor that no code depends on has flatness 0.

    Args:
        represent: A function from points (n, K) of the space to codes (n, D).
        space: The factors to traverse.
        traversals: The number of random points from which each factor is traversed.
        seed: The seed of the points.

    Returns:
        The flatness of each factor and its mean.

    Examples:
        >>> import unweave
        >>> from unweave.metrics import flatness
        >>> space = unweave.FactorSpace.of(x=8, y=8)
        >>> round(flatness(lambda points: points.float(), space, traversals=16).score, 2)  # codes on straight lines
        1.0
    """
    check_positive("flatness", traversals=traversals)
    generator = torch_generator(seed)
    widths: dict[int, list[float]] = {1: [], 2: []}
    lengths: dict[int, list[float]] = {1: [], 2: []}
    for axis in varying_axes("flatness", space, at_least=1).tolist():
        points = space.traverse(space.sample(traversals, generator), axis)  # (n, size, K)
        codes = codes_of("flatness", represent, points)  # (n, size, D)
        for norm in (1, 2):
            apart = [np.linalg.norm(codes - np.roll(codes, shift, 1), norm, axis=2) for shift in range(codes.shape[1])]
            widths[norm].append(float(np.max(apart, axis=(0, 2)).mean()))
            lengths[norm].append(float(np.sort(apart[1], axis=1)[:, :-1].sum(1).mean()))
    narrow, wide = np.array(widths[1]), np.array(widths[2])
    around, across = np.array(lengths[1]), np.array(lengths[2])
    per_factor = _divided(wide, around)
    return Flatness(
        float(per_factor.mean()),
        float(_divided(narrow, around).mean()),
        float(_divided(wide, across).mean()),
        per_factor,
    )


def _divided(widths: Floats, lengths: Floats) -> Floats:
    return np.divide(widths, lengths, out=np.zeros_like(widths), where=lengths > 0)
