"""Linearity: do codes along one factor vary in one direction, and is that direction a latent? (Disent)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.factors import FactorSpace
from unweave.metrics.scoring.chosen_points import Represent, check_positive, codes_of, torch_generator, varying_axes
from unweave.metrics.scoring.inputs import Floats


@dataclass(frozen=True, eq=False)
class Linearity:
    """Three ratios, each the geometric mean over factors; tables (factors,) hold their values."""

    score: float  # linearity ratio: the share of variance along the best direction
    axis_ratio: float  # the share of variance in the best latent
    axis_alignment: float  # the second divided by the first
    per_factor: Floats  # (factors, 3)


def linearity(represent: Represent, space: FactorSpace, *, traversals: int = 1_024, seed: int = 0) -> Linearity:
    """Compute which share of the variance of codes along a factor one direction has, and which share one latent has.

    Michlo's Disent. The linearity ratio is the largest eigenvalue of the covariance of the codes over the sum of all,
    the axis ratio the largest variance of a latent over the sum of all, and axis alignment their quotient. Ratios are
    scaled from [1/D, 1] to [0, 1], averaged over traversals, and combined by the geometric mean over factors.
    Traversals along which codes do not vary count as 0, where Disent returns NaN.

    Args:
        represent: A function from points (n, K) of the space to codes (n, D).
        space: The factors to traverse.
        traversals: The number of random points from which each factor is traversed.
        seed: The seed of the points.

    Returns:
        The two ratios and axis alignment, overall and by factor.

    Examples:
        >>> import unweave
        >>> from unweave.metrics import linearity
        >>> space = unweave.FactorSpace.of(x=8, y=8)
        >>> round(linearity(lambda points: points.float(), space, traversals=16).score, 2)
        1.0
    """
    check_positive("linearity", traversals=traversals)
    generator = torch_generator(seed)
    rows = []
    for axis in varying_axes("linearity", space, at_least=1).tolist():
        points = space.traverse(space.sample(traversals, generator), axis)  # (n, size, K)
        codes = codes_of("linearity", represent, points)  # (n, size, D)
        centred = codes - codes.mean(1, keepdims=True)
        along = np.linalg.svd(centred, compute_uv=False) ** 2  # (n, min(size, D)); the other eigenvalues are 0
        linear, axes = _ratio(along, codes.shape[2]), _ratio((centred**2).sum(1), codes.shape[2])
        alignment = np.divide(axes, linear, out=np.zeros_like(axes), where=linear > 0)
        rows.append([linear.mean(), axes.mean(), alignment.mean()])
    table = np.array(rows)  # (factors, 3)
    with np.errstate(divide="ignore"):
        means = np.exp(np.log(table.clip(min=0)).mean(0))
    return Linearity(float(means[0]), float(means[1]), float(means[2]), table)


def _ratio(values: Floats, latents: int) -> Floats:
    """Return the largest of values (n, m) over their sum (n,), scaled so that ``latents`` equal values give 0."""
    total = values.sum(1)
    share = np.divide(values.max(1), total, out=np.full(len(values), 1 / latents), where=total > 0)
    return (share - 1 / latents) / (1 - 1 / latents) if latents > 1 else np.where(total > 0, 1.0, 0.0)
