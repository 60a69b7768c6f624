"""Mean correlation coefficient: how well do single latents correlate with single factors?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from unweave.errors import InputError
from unweave.metrics.estimators.information import classes_of
from unweave.metrics.scoring.inputs import (
    Codes,
    Factors,
    Floats,
    Integers,
    LabelResult,
    check_any_codes,
    check_factors,
    standardised,
    usable_groups,
)
from unweave.metrics.scoring.sparse_codes import SparseCodes, standardised_sparse
from unweave.metrics.scoring.vectors import Columns, Groups, are_single, columns_of


@dataclass(frozen=True, eq=False)
class MCC(LabelResult):
    """The score, the absolute correlations and the matching."""

    score: float
    correlation: Floats  # (D, K), absolute; 0 if the latent or factor is constant
    matched: Integers  # (K,), the latent of each factor; -1 if no latent is left for it


def mcc(
    codes: Codes, factors: Factors, *, method: Literal["pearson", "spearman"] = "pearson", groups: Groups = None
) -> MCC:
    """Compute the mean absolute correlation of the best one-to-one matching of latents to factors.

    Hyvärinen & Morioka 2016. Factors may be continuous; classes count as numbers. If there are more factors than
    latents, those without a latent count as 0. Constant factors are left out.

    Args:
        codes: The codes (N, D).
        factors: The values of the factors (N, K), NaN where one is missing.
        method: ``"pearson"``, or ``"spearman"`` for ranks.
        groups: The columns of each latent that is a vector, or the number of columns per latent; its correlation is
            that of the best linear combination of its columns.

    Returns:
        The mean, the correlations and the matching.

    Examples:
        >>> import torch
        >>> from unweave.metrics import mcc
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> round(mcc(-2 * factors.flip(1), factors).score, 2)  # order, sign and scale do not matter
        1.0
    """
    if method not in ("pearson", "spearman"):
        raise InputError(f"mcc: method must be 'pearson' or 'spearman', got {method!r}.")
    x, y = check_any_codes("mcc", codes), numbers("mcc", factors)
    groups = usable_groups("mcc", x, groups)
    if len(x) != len(y):
        raise InputError(f"mcc: got {len(x):,} codes but {len(y):,} rows of factors.")
    from scipy.optimize import linear_sum_assignment
    from scipy.stats import rankdata

    rank = partial(rankdata, axis=0) if method == "spearman" else np.asarray
    if isinstance(x, SparseCodes):
        correlation = np.abs(sparse_correlations(x, y, rank))
    else:
        correlation = vector_correlations(x, y, columns_of("mcc", groups, x.shape[1]), rank)
    varies = num_values(y) > 1
    if not varies.any():
        raise InputError("mcc: needs at least one factor that varies, but all factors are constant.")
    latents, columns = linear_sum_assignment(-correlation * varies)
    matched = np.full(y.shape[1], -1, np.int64)
    matched[columns] = latents
    total = correlation[latents, columns][varies[columns]].sum()
    return MCC(float(total / varies.sum()), correlation, matched, missing=np.isnan(y).sum(0))


def correlations(x: Floats, y: Floats, transform: Callable[[Floats], Floats] = np.asarray) -> Floats:
    """Return Pearson's correlation (D, K) of the columns of x (N, D) and y (N, K), 0 if one is constant.

    Rows in which a column of y is NaN are left out of that column; the rest is transformed first.
    """
    gaps = np.isnan(y).any(0)
    correlation = np.zeros((x.shape[1], y.shape[1]))
    if not gaps.all():
        (a,), (b,) = standardised(transform(x)), standardised(transform(y[:, ~gaps]))
        correlation[:, ~gaps] = a.T @ b / len(a)
    for column in np.flatnonzero(gaps):
        known = ~np.isnan(y[:, column])
        if known.any():
            correlation[:, [column]] = correlations(x[known], y[known][:, [column]], transform)
    return correlation


def sparse_correlations(x: SparseCodes, y: Floats, transform: Callable[[Floats], Floats] = np.asarray) -> Floats:
    """Return what :func:`correlations` does, of sparse codes."""
    correlation = np.zeros((x.shape[1], y.shape[1]))
    for column in range(y.shape[1]):
        known = ~np.isnan(y[:, column])
        if not known.any():
            continue
        rows = x if known.all() else x[known]
        (a,) = standardised_sparse(rows if transform is np.asarray else sparse_ranks(rows))
        (b,) = standardised(transform(y[known, column][:, None]))
        correlation[:, column] = a.transposed_times(b[:, 0]) / len(rows)
    return correlation


def sparse_ranks(codes: SparseCodes) -> SparseCodes:
    """Return the ranks of codes minus that of 0, which correlate as ranks do; equal codes have their mean rank."""
    from scipy.sparse import csr_array

    levels = classes_of(codes)
    latent, level, row = levels.away
    width = int(level.max(initial=0)) + 1
    keys, place, counts = np.unique(latent * width + level, return_inverse=True, return_counts=True)
    owner, above = keys // width, keys % width > levels.rest[keys // width]
    zeros = len(codes) - np.bincount(latent, minlength=codes.shape[1])
    total = np.cumsum(counts) - np.concatenate([[0], np.cumsum(np.bincount(owner, counts, codes.shape[1]))])[owner]
    below = np.bincount(owner, np.where(above, 0, counts), codes.shape[1])
    middle = total - counts / 2 + np.where(above, zeros[owner], 0) - (below + zeros / 2)[owner]
    return SparseCodes(csr_array((middle[place.reshape(-1)], (row, latent)), shape=codes.shape))


def vector_correlations(
    x: Floats, y: Floats, groups: Columns, transform: Callable[[Floats], Floats] = np.asarray
) -> Floats:
    """Return the absolute correlation (G, K) of the best linear combination of each group of x with columns of y.

    Args:
        x: The codes (N, D).
        y: The factors (N, K), NaN where a value is missing, whose rows are left out of that column.
        groups: The columns of x in each of the G groups.
        transform: What is done to the columns first, such as replacing them by their ranks; nothing by default.

    Returns:
        The correlations, from 0 to 1.
    """
    single = np.abs(correlations(x, y, transform))
    if are_single(groups):
        return single[[group[0] for group in groups]]
    table = np.zeros((len(groups), y.shape[1]))
    for latent, group in enumerate(groups):
        for column in range(y.shape[1]):
            known = ~np.isnan(y[:, column])
            (a,), (b,) = standardised(transform(x[known][:, group])), standardised(transform(y[known][:, [column]]))
            fitted = a @ np.linalg.lstsq(a, b, rcond=None)[0]
            table[latent, column] = np.sqrt(np.clip((fitted * b).mean(), 0, 1))
    return table


def num_values(y: Floats) -> Integers:
    """Return 2 for each column (N, K) with different numbers, 1 for a constant one, and 0 if all are missing."""
    known = [column[~np.isnan(column)] for column in y.T]
    return np.array([0 if not len(column) else 1 + bool(np.ptp(column) > 0) for column in known])


def numbers(metric: str, factors: Factors) -> Floats:
    """Return factors (N, K) as numbers, or raise an error if they are words."""
    array = check_factors(metric, factors)
    if array.dtype.kind in "USO":
        raise InputError(f"{metric}: factors must be numbers, got words, which have no order to correlate with.")
    if array.dtype.kind in "iu":  # count from the minimum, so that integers beyond 2^53 keep their last digits
        array = array.astype(object) - array.min(0).astype(object) if np.abs(array).max() > 2**53 else array
    return array.astype(np.float64)
