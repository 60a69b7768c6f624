"""Entropy and mutual information of binned codes and of classes, in nats.

Shapes: N samples, D latents, K factors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np

from unweave.errors import InputError, whole
from unweave.metrics.estimators.neighbours import vector_table
from unweave.metrics.estimators.sparse_levels import (
    SparseLevels,
    sparse_bins,
    sparse_classes,
    sparse_entropies,
    sparse_joint_entropies,
)
from unweave.metrics.scoring.inputs import Floats, Integers, Labelled, usable_groups
from unweave.metrics.scoring.sparse_codes import SparseCodes
from unweave.metrics.scoring.vectors import Groups, Joint, are_single, columns_of, principal
from unweave.metrics.scoring.worth import reused

PAIRS = 1 << 22  # pairs of values counted at a time, so that memory does not grow with the sample
COUNTS = 1 << 23  # entries of the table of counts, so that memory does not grow with the square of the latents


def discretize(codes: Any, bins: int) -> Any:
    """Return the equal-width bin (N, D) of each code; bins range from the minimum to the maximum of the latent.

    Bins of sparse codes are :class:`SparseLevels`.
    """
    bins = whole("bins", bins, at_least=2, at_most=1000)
    return reused(sparse_bins if isinstance(codes, SparseCodes) else _discretize, codes, bins)


def _discretize(codes: Floats, bins: int) -> Integers:
    binned = np.empty(codes.shape, np.int64)
    for latent, column in enumerate(codes.T):
        low, high = column.min(), column.max()
        if high > low:
            edges = np.linspace(low, high, bins + 1)
            binned[:, latent] = np.searchsorted(edges[:-1], column, side="right") - 1
        else:
            binned[:, latent] = 0
    return binned


def entropies(values: Any) -> Floats:
    """Return the plug-in entropy of each column of (N, K), of the rows where it is not -1."""
    if isinstance(values, SparseLevels):
        return sparse_entropies(values)
    known = [column[column >= 0] for column in values.T] if values.min() < 0 else list(values.T)
    return np.array([_entropy(np.bincount(column), max(1, len(column))) for column in known])


def joint_entropies(a: Any, b: Integers) -> Floats:
    """Return the plug-in entropy (D, K) of each column of a (N, D) together with each column of b (N, K)."""
    if b.min() < 0:
        return _of_known_rows(joint_entropies, a, b)
    if isinstance(a, SparseLevels):
        return sparse_joint_entropies(a, b)
    table_size = (int(a.max()) + 1) * int((b.max(0) + 1).sum())  # counts for one column of a
    columns = max(1, COUNTS // table_size)
    blocks = [_joint_entropies(a[:, start : start + columns], b) for start in range(0, a.shape[1], columns)]
    return np.concatenate(blocks)


def _joint_entropies(a: Integers, b: Integers) -> Floats:
    """Count all pairs of columns in one pass.

    The counts of column d of a with column k of b are a segment of one long array: all segments of column d are
    adjacent, each as long as the number of values of a times the number of classes of column k.
    """
    values, classes = int(a.max()) + 1, b.max(0) + 1  # (), (K,)
    segment = values * classes
    starts = np.cumsum(segment) - segment
    base = np.arange(a.shape[1])[:, None] * segment.sum() + starts  # (D, K)
    counts = np.zeros(a.shape[1] * int(segment.sum()), np.int64)
    rows = max(1, PAIRS // base.size)
    for start in range(0, len(a), rows):
        block_a, block_b = a[start : start + rows, :, None], b[start : start + rows, None, :]
        counts += np.bincount((base + block_a * classes + block_b).reshape(-1), minlength=len(counts))
    weighted = (counts * np.log(np.maximum(counts, 1))).reshape(a.shape[1], -1)
    joint: Floats = np.log(len(a)) - np.add.reduceat(weighted, starts, axis=1) / len(a)
    return joint


def information_table(a: Any, b: Integers) -> Floats:
    """Return the plug-in mutual information (D, K) between the columns of a (N, D) and of b (N, K)."""
    if b.min() < 0:
        return _of_known_rows(information_table, a, b)
    information = entropies(a)[:, None] + entropies(b) - joint_entropies(a, b)
    return np.where(information < 1e-12, 0.0, information)  # rounding errors around 0


def _of_known_rows(table: Callable[[Any, Integers], Floats], a: Any, b: Integers) -> Floats:
    """Return a table (D, K) whose column k is computed on the rows where column k of b is not -1."""
    result, complete = np.zeros((a.shape[1], b.shape[1])), b.min(0) >= 0
    if complete.any():
        result[:, complete] = table(a, b[:, complete])
    for column in np.flatnonzero(~complete):
        known = b[:, column] >= 0
        if known.any():
            result[:, [column]] = table(a[known], b[known][:, [column]])
    return result


def latent_information(sample: Labelled, groups: Groups, joint: Joint, *, bins: int) -> Floats:
    """Return the mutual information (latents, K) of latents, which may be vectors, and classes.

    Args:
        sample: Codes (N, D) and classes (N, K).
        groups: The columns of each latent, or their number; None if every column is a latent.
        joint: How the information of vectors is estimated: by bins of the first principal component, or by neighbours.
        bins: The number of bins of equal width for each latent, or for each component.

    Returns:
        The table in nats.
    """
    if joint not in get_args(Joint):
        raise InputError(f"joint must be 'pca' or 'neighbours', got {joint!r}.")
    groups = usable_groups("groups", sample.codes, groups)
    columns = columns_of("groups", groups, sample.codes.shape[1])
    if joint == "pca" or are_single(columns):
        return information_table(discretize(principal("groups", sample.codes, groups), bins), sample.factors)
    return vector_table(sample, columns, neighbours=10)


def normalised_information(codes: Any, factors: Integers) -> Floats:
    """Return I(z; f) / H(f) (D, K) of the classes of codes (N, D) and factors (N, K).

    This is the share of the entropy of each factor that each latent explains. A constant factor gives 0.
    """
    table, entropy = information_table(codes, factors), entropies(factors)
    return np.divide(table, entropy, out=np.zeros_like(table), where=entropy > 0)


def classes_of(codes: Any) -> Any:
    """Return the different values of each column of (N, D) as classes 0, 1, …, in increasing order."""
    if isinstance(codes, SparseCodes):
        return sparse_classes(codes)
    return np.stack([np.unique(column, return_inverse=True)[1].reshape(-1) for column in codes.T], axis=1)


def _entropy(counts: Integers, n: int) -> float:
    return float(np.log(n) - (counts * np.log(np.maximum(counts, 1))).sum() / n)


def top_two(matrix: Floats, axis: int) -> tuple[Floats, Floats]:
    """Return the largest and the second largest entry along an axis; if there is one entry, the second is 0."""
    ordered = np.sort(matrix, axis=axis)
    best = np.take(ordered, -1, axis=axis)
    second = np.take(ordered, -2, axis=axis) if matrix.shape[axis] > 1 else np.zeros_like(best)
    return best, second
