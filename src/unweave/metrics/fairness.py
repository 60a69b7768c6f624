"""Fairness: do predictions of one factor change under interventions on another, sensitive factor?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from unweave.factors import FactorSpace
from unweave.metrics.estimators.boosting import boost_each
from unweave.metrics.estimators.parallel_fits import allowed_workers
from unweave.metrics.scoring.chosen_points import Represent, check_positive, codes_of, torch_generator, varying_axes
from unweave.metrics.scoring.inputs import Floats, Integers
from unweave.settings import Count, Seed


@dataclass(frozen=True, eq=False)
class Fairness:
    """Unfairness, lower is better: the mean over pairs of factors, and tables (target, sensitive) of all pairs."""

    score: float
    mean: Floats  # mean total variation, NaN on the diagonal
    maximum: Floats  # largest total variation


def fairness(
    represent: Represent, space: FactorSpace, *, train: Count = 10_000, points: Count = 100, seed: Seed = 0
) -> Fairness:
    """Compute the mean total variation between predictions under interventions on a sensitive factor.

    Locatello et al. 2019b. For each target factor, gradient boosting is fitted to random points. For each other factor,
    random points are set to each of its values in turn, and the distribution of predictions at each value is compared
    with the distribution over all values. The score is disentanglement_lib's ``mean_fairness:mean_pred:mean_sens``.
    Factors with a single value are left out.

    Args:
        represent: A function from points (n, K) of the space to codes (n, D).
        space: The factors to draw points from.
        train: The number of points that each classifier is fitted to.
        points: The number of points that are set to each value of a sensitive factor.
        seed: The seed of the points and of the fits.

    Returns:
        The mean total variation, lower is better, and that of each pair of factors.

    Examples:
        >>> import unweave
        >>> from unweave.metrics import fairness
        >>> space = unweave.FactorSpace.of(x=4, y=4)
        >>> fairness(lambda points: points.float(), space, train=200).score  # predictions of x do not depend on y
        0.0
    """
    check_positive("fairness", train=train, points=points)
    axes = varying_axes("fairness", space).tolist()
    generator = torch_generator(seed)
    factors = space.sample(max(2, train), generator)
    codes = codes_of("fairness", represent, factors)
    changed = [space.traverse(space.sample(points, generator), axis).transpose(0, 1) for axis in axes]
    flat = [points_of.reshape(-1, len(space)) for points_of in changed]  # (size · points, K), ordered by value
    test = codes_of("fairness", represent, torch.cat(flat))
    ends = np.cumsum([len(part) for part in flat])[:-1]

    fitted = boost_each(
        [(codes, factors[:, target].numpy(), test) for target in axes], seed=seed, workers=allowed_workers()
    )
    table = np.array(  # (targets, sensitive, 2)
        [
            [_variation(part.reshape(space.sizes[axis], points)) for axis, part in zip(axes, parts, strict=True)]
            for parts in (np.split(model.test, ends) for model in fitted)
        ]
    )
    table[np.arange(len(axes)), np.arange(len(axes))] = np.nan
    return Fairness(float(np.nanmean(table[..., 0])), table[..., 0], table[..., 1])


def _variation(guesses: Integers) -> tuple[float, float]:
    """Return the mean and largest total variation between predictions (values, points) at one value and at all."""
    classes = int(guesses.max()) + 1
    shares = np.stack([np.bincount(row, minlength=classes) for row in guesses]) / guesses.shape[1]
    distance = np.abs(shares - shares.mean(0)).sum(1) / 2
    return float(distance.mean()), float(distance.max())
