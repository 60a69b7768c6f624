"""Classes of sparse codes, and their entropies from counts of the active entries.

Entries in the class of 0 are not counted: their number follows from the others. Shapes: N samples, D latents.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unweave.metrics.scoring.inputs import Floats, Integers
from unweave.metrics.scoring.sparse_codes import SparseCodes

TABLE = 1 << 23  # counts of latents by classes that are held at a time


@dataclass(frozen=True, eq=False)
class SparseLevels:
    """The classes (N, D) of codes: a CSR array of 1 + the class of each active entry, and the class of 0 (D,)."""

    matrix: Any
    rest: Integers

    @property
    def shape(self) -> tuple[int, int]:
        """The number of samples and of latents."""
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> SparseLevels:
        """Return some of the rows."""
        return SparseLevels(self.matrix[rows], self.rest)

    @cached_property
    def away(self) -> tuple[Integers, Integers, Integers]:
        """The latent, the class and the row of all entries that are not in the class of 0, by latent."""
        columns = self.matrix.tocsc()
        latent = np.repeat(np.arange(self.shape[1]), np.diff(columns.indptr))
        level = columns.data - 1
        kept = level != self.rest[latent]
        return latent[kept], level[kept], columns.indices[kept].astype(np.int64)


def sparse_bins(codes: SparseCodes, bins: int) -> SparseLevels:
    """Return the equal-width bin of each code; bins range from the minimum to the maximum of the latent, 0 included."""
    low, high = codes.extremes
    step = (high - low) / bins

    def bin_of(values: Floats, low: Floats, step: Floats) -> Integers:
        moving = step > 0
        found = np.where(moving, (values - low) / np.where(moving, step, 1.0), 0).astype(np.int64).clip(0, bins - 1)
        found -= (found > 0) & (values < found * step + low)  # edges are rounded: compare with them as they are
        found += (found < bins - 1) & (values >= (found + 1) * step + low)
        return np.where(moving, found, 0)

    latent = codes.matrix.indices
    data = 1 + bin_of(codes.matrix.data, low[latent], step[latent])
    return SparseLevels(_like(codes.matrix, data), bin_of(np.zeros(len(low)), low, step))


def sparse_classes(codes: SparseCodes) -> SparseLevels:
    """Return the different values of each latent as classes 0, 1, …, in increasing order, 0 included."""
    columns, latent = codes.columns, codes.latents
    order = np.lexsort((columns.data, latent))
    values, owner = columns.data[order], latent[order]
    first = np.r_[True, owner[1:] != owner[:-1]][: len(owner)]
    new = first | np.r_[True, values[1:] != values[:-1]][: len(owner)]
    running = np.cumsum(new)
    rank = running - np.maximum.accumulate(np.where(first, running, 0))  # from 0 in each latent
    rest = np.bincount(owner, new & (values < 0), codes.shape[1]).astype(np.int64)
    rank += (values > 0) & (codes.counts < len(codes))[owner]
    level = np.empty(len(order), np.int64)
    level[order] = rank
    from scipy.sparse import csc_array

    ordered = csc_array((level + 1, columns.indices, columns.indptr), shape=columns.shape).tocsr()
    return SparseLevels(ordered, rest)


def sparse_entropies(levels: SparseLevels) -> Floats:
    """Return the plug-in entropy of each latent (D,)."""
    return sparse_joint_entropies(levels, np.zeros((len(levels), 1), np.int64))[:, 0]


def sparse_joint_entropies(levels: SparseLevels, factors: Integers) -> Floats:
    """Return the plug-in entropy (D, K) of each latent together with each column of factors (N, K)."""
    latent, level, row = levels.away
    latents, n = levels.shape[1], len(levels)
    pair = latent * (int(level.max(initial=0)) + 1) + level
    joint = np.empty((latents, factors.shape[1]))
    for k, column in enumerate(factors.T):
        classes = int(column.max()) + 1
        keys, counts = np.unique(pair * classes + column[row], return_counts=True)
        owner = keys // (classes * (int(level.max(initial=0)) + 1))
        weighted = np.bincount(owner, counts * np.log(counts), latents).astype(np.float64)  # integers if there are none
        total, step = np.bincount(column, minlength=classes), max(1, TABLE // classes)
        for start in range(0, latents, step):
            block = slice(start, min(start + step, latents))
            inside = slice(*np.searchsorted(latent, (block.start, block.stop)))
            cells = (latent[inside] - start) * classes + column[row[inside]]
            gone = np.bincount(cells, minlength=(block.stop - start) * classes).reshape(-1, classes)
            rest = total - gone  # (block, classes), entries in the class of 0
            weighted[block] += (rest * np.log(np.maximum(rest, 1))).sum(1)
        joint[:, k] = np.log(n) - weighted / n
    return joint


def _like(matrix: Any, data: Any) -> Any:
    from scipy.sparse import csr_array

    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
