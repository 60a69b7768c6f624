"""Draws: codes of random points, and of points that share a factor; of new points of a space, or from a pool.

The published scores by intervention encode new images for every vote. Codes that are there, with their factors, serve
as well: a batch that shares a factor is drawn from all samples with one value of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from unweave.errors import InputError
from unweave.factors import FactorSpace
from unweave.metrics.scoring.chosen_points import (
    Represent,
    batches_of,
    codes_of,
    random_axes,
    torch_generator,
    varying_axes,
)
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.inputs import Codes, Factors, Floats, Integers, check_seed, labelled
from unweave.metrics.scoring.sparse_codes import is_sparse
from unweave.metrics.scoring.vectors import Groups

LATENTS = 32  # of wider codes, fewer votes are drawn at a time


class FreshCodes:
    """Codes of new points of a factor space, encoded as they are drawn: the published form.

    Args:
        metric: The metric, for messages.
        represent: A function from points (n, K) to codes (n, D).
        space: The space of the points.
        seed: The seed of the points.
        at_least: The fewest factors that must have more than one value.
    """

    def __init__(self, metric: str, represent: Represent, space: FactorSpace, seed: int, at_least: int) -> None:
        self.metric, self.represent, self.space = metric, represent, space
        self.axes = varying_axes(metric, space, at_least)
        self.factors, self.missing = len(space), np.zeros(len(space), np.int64)
        self._generator = torch_generator(seed)

    def sample(self, n: int) -> tuple[Floats, Integers]:
        """Return the codes (n, D) and factors (n, K) of random points."""
        points = self.space.sample(n, self._generator)
        return codes_of(self.metric, self.represent, points), points.numpy()

    def batches(self, votes: int, points_each: int) -> Iterator[int]:
        """Yield how many votes to draw at a time, so that their codes fit in memory."""
        return batches_of(votes, points_each)

    def random_axes(self, votes: int) -> Integers:
        """Draw a factor that varies for each vote (votes,), uniformly."""
        axes: Integers = random_axes(self.axes, votes, self._generator).numpy()
        return axes

    def held(self, axes: Integers, n: int) -> Floats:
        """Return the codes (M, n, D) of batches of points that share one value of the factor of each batch (M,)."""
        fixed = self.space.fixed_batches(len(axes), n, self._generator, axis=torch.from_numpy(axes))
        return codes_of(self.metric, self.represent, fixed.factors)

    def changed(self, axis: int, n: int) -> tuple[int, Floats, Floats]:
        """Return -1 and the codes (n, D) of n points before and after one factor gets another value."""
        first = self.space.sample(n, self._generator)
        size, second = self.space.sizes[axis], first.clone()
        second[:, axis] = (first[:, axis] + torch.randint(1, size, (n,), generator=self._generator)) % size
        both = codes_of(self.metric, self.represent, torch.stack([first, second]))
        return -1, both[0], both[1]


class Pool:
    """Codes (N, D) that are there, with their factors (N, K); each value of a factor is equally likely to be held.

    A batch has different rows if enough rows have the value; otherwise they are drawn with replacement.

    Args:
        metric: The metric, for messages.
        codes: The codes (N, D).
        factors: Their factors (N, K).
        seed: The seed of the draws.
        at_least: The fewest factors that must vary.
        kinds: The kinds of the factors, as in :func:`labelled`.
        groups: The columns of each latent that is a vector, as in :func:`labelled`.
        sparse: Whether the metric takes sparse codes.
    """

    def __init__(
        self,
        metric: str,
        codes: Codes,
        factors: Factors,
        seed: int,
        at_least: int,
        kinds: Kinds,
        groups: Groups,
        sparse: bool,
    ) -> None:
        sample = labelled(metric, codes, factors, kinds=kinds, groups=groups, factors_at_least=at_least, sparse=sparse)
        self.missing = sample.missing
        self.metric, self.codes, self.classes = metric, sample.codes, sample.factors
        self.axes, self.factors = sample.varying, sample.factors.shape[1]
        self._rows = {axis: _by_value(self.classes[:, axis]) for axis in self.axes.tolist()}
        self._rng = np.random.default_rng(check_seed(seed))
        self._warned = False

    def sample(self, n: int) -> tuple[Any, Integers]:
        """Return the codes and factors of n different rows, or of all if there are fewer."""
        rows = self._rng.permutation(len(self.codes))[:n]
        return self.codes[rows], self.classes[rows]

    def batches(self, votes: int, points_each: int) -> Iterator[int]:
        """Yield how many votes to draw at a time, so that their codes fit in memory."""
        return batches_of(votes, points_each * -(-self.codes.shape[1] // LATENTS))

    def random_axes(self, votes: int) -> Integers:
        """Draw a factor that varies for each vote (votes,), uniformly."""
        return self._rng.choice(self.axes, votes)

    def held(self, axes: Integers, n: int) -> Floats:
        """Return the codes (M, n, D) of batches of rows that share one value of the factor of each batch (M,)."""
        codes: Floats = self.codes[self.held_rows(axes, n)]
        return codes

    def held_rows(self, axes: Integers, n: int) -> Integers:
        """Return the rows (M, n) of such batches."""
        self._warn_of_rare_values(n)
        rows = np.empty((len(axes), n), np.int64)
        for axis in np.unique(axes).tolist():
            batches, (order, starts, counts) = axes == axis, self._rows[axis]
            value = self._rng.integers(len(counts), size=int(batches.sum()))
            rows[batches] = order[starts[value, None] + different_below(counts[value], n, self._rng)]
        return rows

    def changed(self, axis: int, n: int) -> tuple[int, Any, Any]:
        """Return how many pairs of rows differ in one factor alone, and the codes (n, D) of n such pairs at random."""
        known = np.flatnonzero((self.classes >= 0).all(1))
        others = np.unique(np.delete(self.classes[known], axis, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
        values = self.classes[known, axis]
        order = np.lexsort([values, others])
        known, others, values = known[order], others[order], values[order]
        line, size = _starts_and_sizes(others)  # (N,) each: of the rows that agree in all other factors
        same, equal = _starts_and_sizes(
            others * (values.max(initial=0) + 1) + values
        )  # of those that agree in this one too
        partners = np.cumsum(size - equal)
        total = int(partners[-1]) if len(partners) else 0
        if not total:
            return 0, self.codes[:0], self.codes[:0]
        ticket = self._rng.integers(total, size=n)
        first = np.searchsorted(partners, ticket, side="right")
        place = line[first] + ticket - (partners[first] - (size - equal)[first])
        place += np.where(place >= same[first], equal[first], 0)
        return total // 2, self.codes[known[first]], self.codes[known[place]]

    def _warn_of_rare_values(self, n: int) -> None:
        counts = np.concatenate([counts for _, _, counts in self._rows.values()])
        if (rare := int((counts < n).sum())) and not self._warned:
            text = f"{self.metric}: {rare} of {len(counts)} values of factors have fewer than {n} samples"
            warnings.warn(f"{text}, so rows are drawn with replacement for them; score more samples.", stacklevel=2)
        self._warned = True


def draws(
    metric: str,
    represent: Any,
    space: Any,
    seed: int,
    *,
    at_least: int = 2,
    kinds: Kinds = None,
    groups: Groups = None,
    sparse: bool = False,
) -> FreshCodes | Pool:
    """Return where a metric draws codes from: a function of points with their space, or codes with their factors.

    Args:
        metric: The metric, for messages.
        represent: A function from points (n, K) to codes (n, D), or codes (N, D).
        space: The space of the points, or the factors (N, K) of the codes.
        seed: The seed of the draws.
        at_least: The fewest factors that must vary.
        kinds: The kinds of the factors of the codes, as in :func:`labelled`.
        groups: The columns of each latent of the codes that is a vector, as in :func:`labelled`.
        sparse: Whether the metric takes sparse codes.

    Returns:
        New points of the space, or the pool.
    """
    if isinstance(space, FactorSpace):
        if groups is not None:
            raise InputError(f"{metric}: groups need codes with factors; let the function of points join the columns.")
        return FreshCodes(metric, represent, space, seed, at_least)
    if callable(represent) and not hasattr(represent, "__array__") and not is_sparse(represent):
        raise InputError(
            f"{metric}: needs a function of points with the FactorSpace of the points, or codes with their factors, "
            f"got a function with {type(space).__name__}."
        )
    return Pool(metric, represent, space, seed, at_least, kinds, groups, sparse)


def different_below(limits: Integers, n: int, rng: np.random.Generator) -> Integers:
    """Draw n whole numbers below each limit (M,), different ones if the limit is at least n; (M, n)."""
    drawn = (rng.random((len(limits), n)) * limits[:, None]).astype(np.int64)
    close = np.flatnonzero((limits >= n) & (limits < 4 * n))  # repeats would be frequent: sort random keys instead
    keys = rng.random((len(close), 4 * n))
    keys[np.arange(4 * n) >= limits[close, None]] = 1.0
    drawn[close] = keys.argsort(axis=1)[:, :n]
    left = np.flatnonzero(limits >= 4 * n)
    while len(left):  # draw repeated numbers again until none is left
        order = drawn[left].argsort(axis=1, kind="stable")
        ordered = np.take_along_axis(drawn[left], order, axis=1)
        row, column = np.nonzero(ordered[:, 1:] == ordered[:, :-1])
        again = left[row], order[row, column + 1]
        drawn[again] = (rng.random(len(row)) * limits[again[0]]).astype(np.int64)
        left = np.unique(again[0])
    return drawn


def _starts_and_sizes(ordered: Integers) -> tuple[Integers, Integers]:
    """Return for each entry of sorted numbers (N,) where the run of its equals starts, and how long it is."""
    _, starts, which, counts = np.unique(ordered, return_index=True, return_inverse=True, return_counts=True)
    return starts[which], counts[which]


def _by_value(classes: Integers) -> tuple[Integers, Integers, Integers]:
    """Return the rows that have a class, ordered by it, where each class starts, and how many rows it has."""
    known = np.flatnonzero(classes >= 0)
    counts = np.bincount(classes[known])
    counts = counts[counts > 0]
    return known[np.argsort(classes[known], kind="stable")], np.cumsum(counts) - counts, counts
