"""Latents that are vectors: groups of columns of the codes, each treated as one latent.

Diffusion and slot models have one vector per factor. VCT, DisDiff and EncDiff (Yang et al. 2022, 2023, 2024) replace
each vector by its first principal component before they compute metrics. Information can also be that of the whole
vector, by nearest neighbours; importances are summed over a group, and classifiers take all of its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from unweave.errors import InputError, whole

Groups = Sequence[Sequence[int]] | int | None  # the columns of each latent; a number of columns per latent
Joint = Literal["pca", "neighbours"]
Columns = list[list[int]]
Floats = NDArray[np.float64]


def columns_of(metric: str, groups: Groups, columns: int) -> Columns:
    """Return the columns of each latent: every column by itself without groups, or as the groups say."""
    if groups is None:
        return [[column] for column in range(columns)]
    given: Any = groups.tolist() if isinstance(groups, np.ndarray | Tensor) else groups
    if not isinstance(given, Sequence):
        size = whole(f"{metric}: the number of columns per latent", given, at_least=1)
        if columns % size:
            raise InputError(f"{metric}: {columns} columns cannot be divided into latents of {size}.")
        return np.arange(columns).reshape(-1, size).tolist()
    found = [_indices(group) for group in given]
    flat = [column for group in found for column in group]
    if not all(found) or not flat:
        raise InputError(f"{metric}: groups must be lists of columns, like [[0, 1], [2, 3]], got {groups!r}.")
    if len(set(flat)) < len(flat) or not 0 <= min(flat) <= max(flat) < columns:
        raise InputError(f"{metric}: groups must have different columns from 0 to {columns - 1}, got {groups!r}.")
    return found


def _indices(group: Any) -> list[int]:
    """Return the columns of a group as whole numbers, nothing if it is no list of such."""
    if isinstance(group, str) or not isinstance(group, Iterable):
        return []
    columns = list(group)
    return [int(column) for column in columns] if all(isinstance(c, int | np.integer) for c in columns) else []


def are_single(groups: Columns) -> bool:
    """Return whether every latent is one column."""
    return all(len(group) == 1 for group in groups)


def projection(metric: str, codes: Floats, groups: Groups) -> Callable[[Floats], Floats]:
    """Return the function from codes (N, D) to one column per group: its first principal component, fitted to codes.

    The column of a group of one is left as it is. The component's largest weight is positive.
    """
    columns = columns_of(metric, groups, codes.shape[1])
    weights = np.zeros((codes.shape[1], len(columns)))
    for latent, group in enumerate(columns):
        weights[group, latent] = _component(codes[:, group]) if len(group) > 1 else 1.0
    if are_single(columns):
        order = [group[0] for group in columns]
        return lambda given: given if order == list(range(given.shape[1])) else given[:, order]
    return lambda given: given @ weights


def principal(metric: str, codes: Floats, groups: Groups) -> Floats:
    """Return codes (N, D) with one column per group, its first principal component."""
    return codes if groups is None else projection(metric, codes, groups)(codes)


def summed(values: Floats, groups: Columns) -> Floats:
    """Return what columns have, importances (D, K) or divergences (D,), summed over each group."""
    return np.stack([values[group].sum(0) for group in groups])


def joint_levels(levels: NDArray[np.int64], groups: Columns) -> NDArray[np.int64]:
    """Return the classes (N, G) of the values that the columns (N, D) of each group take together."""
    if are_single(groups):
        return levels[:, [group[0] for group in groups]]
    return np.stack([np.unique(levels[:, g], axis=0, return_inverse=True)[1].reshape(-1) for g in groups], axis=1)


def _component(codes: Floats) -> Any:
    centred = codes - codes.mean(0)
    direction = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    return direction * np.sign(direction[np.abs(direction).argmax()])
