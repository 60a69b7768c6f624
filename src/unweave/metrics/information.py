"""Entropy and mutual information of binned codes and of classes, in nats.

Shapes: N samples, D latents, K factors.
"""

from __future__ import annotations

import numpy as np

from unweave.errors import InputError
from unweave.metrics.inputs import Floats, Integers

ROWS = 1 << 16  # counted at a time, so that memory does not grow with the sample


def discretize(codes: Floats, bins: int) -> Integers:
    """Codes (N, D) as the number of the equal-width bin they fall in, from the latent's least value to its greatest."""
    if bins < 2:
        raise InputError(f"bins must be at least 2, got {bins}.")
    binned = np.empty(codes.shape, np.int64)
    for latent, column in enumerate(codes.T):
        low, high = column.min(), column.max()
        if high > low:
            edges = np.linspace(low, high, bins + 1)
            binned[:, latent] = np.searchsorted(edges[:-1], column, side="right") - 1
        else:
            binned[:, latent] = 0
    return binned


def joint_counts(a: Integers, b: Integers) -> Floats:
    """How often the values of each column of a (N, D) and each of b (N, K) meet: (D, K, values of a, values of b)."""
    rows, columns = int(a.max()) + 1, int(b.max()) + 1
    cells = (a.shape[1], b.shape[1], rows, columns)
    first = (np.arange(a.shape[1])[:, None] * b.shape[1] + np.arange(b.shape[1])) * (rows * columns)  # (D, K)
    counts = np.zeros(int(np.prod(cells)), np.int64)
    for start in range(0, len(a), ROWS):
        block_a, block_b = a[start : start + ROWS], b[start : start + ROWS]
        cell = first + block_a[:, :, None] * columns + block_b[:, None, :]  # (rows, D, K)
        counts += np.bincount(cell.reshape(-1), minlength=len(counts))
    return counts.reshape(cells).astype(np.float64)


def entropy_of_counts(counts: Floats, axis: int | tuple[int, ...] = -1) -> Floats:
    """Plug-in entropy of counts along the given axes."""
    share = counts / counts.sum(axis, keepdims=True)
    entropy: Floats = -np.sum(share * np.log(share, out=np.zeros_like(share), where=share > 0), axis=axis)
    return entropy


def entropies(values: Integers) -> Floats:
    """Plug-in entropy of each column of (N, K)."""
    return np.array([entropy_of_counts(np.bincount(column).astype(np.float64)) for column in values.T])


def information_table(a: Integers, b: Integers) -> Floats:
    """Plug-in mutual information (D, K) between the columns of a (N, D) and of b (N, K)."""
    counts = joint_counts(a, b)
    joint = entropy_of_counts(counts, axis=(2, 3))  # (D, K)
    of_a, of_b = entropy_of_counts(counts.sum(3)), entropy_of_counts(counts.sum(2))
    information: Floats = np.maximum(of_a + of_b - joint, 0.0)
    return np.where(information < 1e-12, 0.0, information)  # what rounding leaves of nothing


def top_two(matrix: Floats, axis: int) -> tuple[Floats, Floats]:
    """The greatest and the second greatest entry along an axis; with one entry, the second is 0."""
    ordered = np.sort(matrix, axis=axis)
    best = np.take(ordered, -1, axis=axis)
    second = np.take(ordered, -2, axis=axis) if matrix.shape[axis] > 1 else np.zeros_like(best)
    return best, second
