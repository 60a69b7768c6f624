"""Codes of known structure for tests of metrics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from torch import Tensor

from unweave.factors import FactorSpace
from unweave.metrics.scoring.inputs import Floats, Integers

SPACE = FactorSpace.of(a=4, b=3, c=5)


def factors(n: int, seed: int = 0) -> Integers:
    return np.random.default_rng(seed).integers(0, SPACE.sizes, (n, 3))


def noise(n: int, latents: int, seed: int = 1) -> Floats:
    return np.random.default_rng(seed).normal(size=(n, latents))


def mixed(n: int, latents: int = 4, seed: int = 0) -> tuple[Floats, Integers]:
    """Codes that lean on one factor each, mix in the others, and are a little noisy."""
    labels = factors(n, seed)
    weights = np.random.default_rng(7).normal(scale=0.25, size=(3, latents))
    weights[np.arange(3), np.arange(3)] += 1
    return labels @ weights + 0.05 * noise(n, latents, seed + 1), labels


def linear(weights: Floats) -> Callable[[Tensor], Floats]:
    """A representation without chance: standardised factors times weights (K, D)."""
    sizes = np.array(SPACE.sizes)

    def represent(points: Tensor) -> Floats:
        scaled: Floats = (points.numpy() - (sizes - 1) / 2) / np.sqrt((sizes**2 - 1) / 12)
        return scaled @ weights

    return represent
