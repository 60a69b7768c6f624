"""Entropy and mutual information of binned codes and of classes, in nats.

Shapes: N samples, D latents, K factors.
"""

from __future__ import annotations

import numpy as np

from unweave.errors import whole
from unweave.metrics.inputs import Floats, Integers

PAIRS = 1 << 22  # of values counted at a time, so that memory does not grow with the sample


def discretize(codes: Floats, bins: int) -> Integers:
    """Codes (N, D) as the number of the equal-width bin they fall in, from the latent's least value to its greatest."""
    bins = whole("bins", bins, at_least=2, at_most=1000)
    binned = np.empty(codes.shape, np.int64)
    for latent, column in enumerate(codes.T):
        low, high = column.min(), column.max()
        if high > low:
            edges = np.linspace(low, high, bins + 1)
            binned[:, latent] = np.searchsorted(edges[:-1], column, side="right") - 1
        else:
            binned[:, latent] = 0
    return binned


def entropies(values: Integers) -> Floats:
    """Plug-in entropy of each column of (N, K)."""
    return np.array([_entropy(np.bincount(column), len(values)) for column in values.T])


def joint_entropies(a: Integers, b: Integers) -> Floats:
    """Plug-in entropy (D, K) of each column of a (N, D) together with each of b (N, K).

    All pairs are counted in one pass. The counts of latent d with factor k are a stretch of one long row: the stretches
    of a latent one after another, each as long as there are values of a times classes of the factor.
    """
    values, classes = int(a.max()) + 1, b.max(0) + 1  # (), (K,)
    stretch = values * classes
    starts = np.cumsum(stretch) - stretch
    base = np.arange(a.shape[1])[:, None] * stretch.sum() + starts  # (D, K)
    counts = np.zeros(a.shape[1] * int(stretch.sum()), np.int64)
    rows = max(1, PAIRS // base.size)
    for start in range(0, len(a), rows):
        block_a, block_b = a[start : start + rows, :, None], b[start : start + rows, None, :]
        counts += np.bincount((base + block_a * classes + block_b).reshape(-1), minlength=len(counts))
    weighted = (counts * np.log(np.maximum(counts, 1))).reshape(a.shape[1], -1)
    joint: Floats = np.log(len(a)) - np.add.reduceat(weighted, starts, axis=1) / len(a)
    return joint


def information_table(a: Integers, b: Integers) -> Floats:
    """Plug-in mutual information (D, K) between the columns of a (N, D) and of b (N, K)."""
    information = entropies(a)[:, None] + entropies(b) - joint_entropies(a, b)
    return np.where(information < 1e-12, 0.0, information)  # what rounding leaves of nothing


def _entropy(counts: Integers, n: int) -> float:
    return float(np.log(n) - (counts * np.log(np.maximum(counts, 1))).sum() / n)


def top_two(matrix: Floats, axis: int) -> tuple[Floats, Floats]:
    """The greatest and the second greatest entry along an axis; with one entry, the second is 0."""
    ordered = np.sort(matrix, axis=axis)
    best = np.take(ordered, -1, axis=axis)
    second = np.take(ordered, -2, axis=axis) if matrix.shape[axis] > 1 else np.zeros_like(best)
    return best, second
