"""Interventional robustness: how little does a latent move when all factors but its own change?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.errors import InputError
from unweave.factors import FactorSpace
from unweave.metrics.information import discretize
from unweave.metrics.inputs import Floats, Integers, dead
from unweave.metrics.interventions import Represent, check_positive, codes_of, torch_generator, varying_axes


@dataclass(frozen=True, eq=False)
class IRS:
    """The score, and what it is made of; dead latents are left out of it."""

    score: float
    per_latent: Floats  # (D,), NaN for a dead latent
    robustness: Floats  # (D, K)
    parents: Integers  # (D,), the factor that each latent is most robust for


def irs(
    represent: Represent,
    space: FactorSpace,
    *,
    points: int = 10_000,
    quantile: float = 0.99,
    bins: int | None = None,
    seed: int = 0,
) -> IRS:
    """Mean over latents of 1 minus how far they stray while their best factor is held (Suter et al. 2019).

    Of ``points`` random points, those that share a value of a factor are a group; how far is the ``quantile`` of the
    distances from the group's mean (1.0 in the paper, 0.99 in disentanglement_lib), averaged over groups, by the
    greatest distance from the overall mean. Latents are weighted by that distance; dead codes score 0. Factors with one
    value hold nothing and take no part. ``bins=20`` merges the values of larger factors into as many bins of equal
    width, as disentanglement_lib does.
    """
    check_positive("irs", points=points)
    if not 0 < quantile <= 1:
        raise InputError(f"irs: quantile must be above 0 and at most 1, got {quantile}.")
    axes = varying_axes("irs", space, at_least=1)
    factors = space.sample(max(2, points), torch_generator(seed))
    codes = codes_of("irs", represent, factors)
    greatest = np.abs(codes - codes.mean(0)).max(0)  # (D,)
    alive = ~dead(codes)
    strays = np.full((codes.shape[1], len(space)), np.nan)
    for axis in axes.tolist():
        values = factors[:, axis].numpy()
        if bins is not None:
            values = discretize(values[:, None].astype(np.float64), bins)[:, 0]
        groups = [codes[values == value] for value in np.unique(values)]
        strays[:, axis] = np.mean([np.quantile(np.abs(g - g.mean(0)), quantile, axis=0) for g in groups], axis=0)
    robustness = np.full_like(strays, np.nan)
    robustness[alive] = 1 - strays[alive] / greatest[alive, None]
    if not alive.any():
        return IRS(0.0, robustness[:, 0], robustness, np.zeros(len(alive), np.int64))
    filled = np.where(np.isnan(robustness), -np.inf, robustness)
    per_latent = np.where(alive, filled.max(1), np.nan)
    score = float(np.average(per_latent[alive], weights=greatest[alive]))
    return IRS(score, per_latent, robustness, filled.argmax(1))
