"""Single latents: does one latent recognise each value of each factor, and do other latents take over in its place?

These are the questions that are asked of sparse autoencoders. Dense codes are treated as sparse ones that are active
everywhere, some columns at a time. Shapes: N samples, D latents, V values of all factors that vary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.metrics.explicitness import roc_area
from unweave.metrics.mcc import sparse_ranks
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.inputs import (
    Codes,
    Factors,
    Floats,
    Integers,
    Labelled,
    LabelResult,
    fit_and_test,
)
from unweave.metrics.scoring.sparse_codes import SparseCodes
from unweave.metrics.scoring.vectors import Groups
from unweave.settings import NonNegative, Seed, Share

TABLE = 1 << 22  # latents by classes, or entries of dense codes, at a time
RELIABLE = 0.5  # F1 of the main latents of a value, below which nothing can be said about absorption
CHANCE = 0.01  # probability that any latent is called specific to a value by chance


@dataclass(frozen=True, eq=False)
class SingleLatents(LabelResult):
    """The mean F1 and area under the ROC curve over values, and the best latent of each value."""

    f1: float
    auc: float
    values: Integers  # (V, 2), a factor, and the place of the value among its sorted values
    f1_per_value: Floats  # (V,), NaN for a value that one of the two samples does not have
    f1_latent: Integers  # (V,)
    f1_sign: Integers  # (V,), 1, or -1 if low codes stand for the value
    f1_threshold: Floats  # (V,), the value is predicted where sign times code is at least this
    auc_per_value: Floats  # (V,)
    auc_latent: Integers  # (V,)

    @property
    def score(self) -> float:
        """The mean F1."""
        return self.f1


def single_latents(
    codes: Codes,
    factors: Factors,
    *,
    kinds: Kinds = None,
    groups: Groups = None,
    test: tuple[Any, Any] | None = None,
    seed: Seed = 0,
) -> SingleLatents:
    r"""Compute how well the best single latent recognises each value of each factor, averaged over values.

    F1 is the harmonic mean of precision and recall of predicting the value where a latent reaches a threshold, from
    above or from below. Latent, direction and threshold are those with the best F1 on the training sample, among
    thresholds that are not reached by all samples; F1 is that of the test sample. The area under the ROC curve is that
    of another latent, with the area farthest from 1/2 on the training sample. Inactive samples are ties.

    Args:
        codes: The codes (N, D).
        factors: The values of the factors (N, K).
        kinds: The kind of each factor, as a list or by column; continuous ones are put into 20 bins of equal counts.
        groups: The columns of each latent that is a vector, or the number of columns per latent; each is replaced by
            its first principal component.
        test: Codes and factors of the test sample; by default the given sample is split.
        seed: The seed of the split.

    Returns:
        Both means, and for each value the best latents. A value that one of the samples does not have is left out; if
        none is left, F1 is 0 and the area is 1/2.

    Examples:
        >>> import numpy as np
        >>> from scipy.sparse import csr_array
        >>> from unweave.metrics import single_latents
        >>> factors = np.arange(600)[:, None] % 3  # one factor with three values
        >>> codes = csr_array(1.0 * (factors == [0, 1, 2, 9]))  # a latent for each value, and one that is never active
        >>> found = single_latents(codes, factors)
        >>> found.f1, found.auc, found.f1_latent.tolist()
        (1.0, 1.0, [0, 1, 2])
    """
    train, held_out = fit_and_test(
        "single_latents", codes, factors, test, seed, kinds=kinds, groups=groups, sparse=True
    )
    values = values_of(train)
    v = len(values)
    f1, area, threshold = np.full(v, np.nan), np.full(v, np.nan), np.full(v, np.nan)
    f1_latent, f1_sign, auc_latent = np.zeros(v, np.int64), np.ones(v, np.int64), np.zeros(v, np.int64)
    for factor in train.varying.tolist():
        (inputs, labels), (new, truth) = train.classes_of(factor), held_out.classes_of(factor)
        mine = np.flatnonzero(values[:, 0] == factor)
        found = _best_thresholds(inputs, labels, len(mine))
        f1_latent[mine], threshold[mine], f1_sign[mine] = found
        latent, sign = _best_areas(inputs, labels, len(mine))
        auc_latent[mine] = latent
        for value in range(len(mine)):
            inside, known = truth == value, labels == value
            if not (0 < inside.sum() < len(truth) and 0 < known.sum() < len(labels)):
                continue
            predicted = f1_sign[mine[value]] * _column(new, f1_latent[mine[value]]) >= threshold[mine[value]]
            f1[mine[value]] = 2 * (predicted & inside).sum() / (predicted.sum() + inside.sum())
            scores = sign[value] * _column(new, latent[value])
            area[mine[value]] = roc_area(np.stack([-scores, scores], axis=1), inside.astype(np.int64))
    return SingleLatents(
        f1=float(np.nanmean(f1)) if (~np.isnan(f1)).any() else 0.0,
        auc=float(np.nanmean(area)) if (~np.isnan(area)).any() else 0.5,
        values=values,
        f1_per_value=f1,
        f1_latent=f1_latent,
        f1_threshold=threshold,
        f1_sign=f1_sign,
        auc_per_value=area,
        auc_latent=auc_latent,
        missing=train.missing + held_out.missing,
    )


@dataclass(frozen=True, eq=False)
class Absorption(LabelResult):
    """The mean share of absorbed samples over values, and what it is made of."""

    score: float
    values: Integers  # (V, 2), a factor, and the place of the value among its sorted values
    per_value: Floats  # (V,), NaN for a value without reliable main latents
    missed: Floats  # (V,), the share of samples with the value in which no main latent is active
    f1: Floats  # (V,), of predicting the value where a main latent is active; NaN without test samples
    main: tuple[tuple[int, ...], ...]  # V, the main latents of each value
    absorbing: tuple[tuple[int, ...], ...]  # V, the latents that are specific to the value besides


def absorption(
    codes: Codes,
    factors: Factors,
    *,
    gain: NonNegative = 0.03,
    precision: Share = 0.9,
    kinds: Kinds = None,
    groups: Groups = None,
    test: tuple[Any, Any] | None = None,
    seed: Seed = 0,
) -> Absorption:
    """Compute how often the main latents of a value are silent while a more specific latent is active instead.

    Feature absorption (Chanin et al. 2024): a latent for "square" stays silent on squares at the left, because a latent
    for "square at the left" stands for both. The main latents of a value are those whose activity (a code that is not
    0) recognises it: first the latent with the best F1 on the training sample, then others while one raises the F1
    of "one of them is active" by more than ``gain``. A latent is specific to the value if at least ``precision`` of the
    samples in which it is active have the value, and this would happen by chance with a probability below 0.01 for all
    latents together. A test sample with the value is absorbed if no main latent is active and a specific one is.

    The paper has no labels of such specific features: it finds absorbing latents by the direction of a linear probe
    and by ablation. Here the labels take the place of the probe, so no decoder is needed. As in its public code, the F1
    must rise by 0.03 for a further main latent.

    Args:
        codes: The codes (N, D), 0 where a latent is inactive.
        factors: The values of the factors (N, K).
        gain: How much the F1 must rise for one more main latent.
        precision: The share of the activity of a specific latent that must be on samples with the value.
        kinds: The kind of each factor, as a list or by column; continuous ones are put into 20 bins of equal counts.
        groups: The columns of each latent that is a vector, or the number of columns per latent; each is replaced by
            its first principal component.
        test: Codes and factors of the test sample; by default the given sample is split.
        seed: The seed of the split.

    Returns:
        The mean share over values whose main latents have an F1 of at least 0.5 on the test sample, 0 if none has.

    Examples:
        >>> import numpy as np
        >>> from unweave.metrics import absorption
        >>> shape, left = np.arange(3_000) % 3, np.arange(3_000) % 150 == 0
        >>> square = np.where(left, 0, shape == 0)  # silent on squares at the left
        >>> codes = np.stack([square, (shape == 0) & left, shape == 1, shape == 2], axis=1)
        >>> found = absorption(codes, shape)
        >>> found.main[0], found.absorbing[0]  # the latents of a square, and the one that takes over
        ((0,), (1,))
    """
    train, held_out = fit_and_test("absorption", codes, factors, test, seed, kinds=kinds, groups=groups, sparse=True)
    values = values_of(train)
    share, missed, f1 = (np.full(len(values), np.nan) for _ in range(3))
    main: list[tuple[int, ...]] = []
    absorbing: list[tuple[int, ...]] = []
    for factor in train.varying.tolist():
        (inputs, labels), (new, truth) = train.classes_of(factor), held_out.classes_of(factor)
        active, fresh = _active(inputs), _active(new)
        for value in range(int((values[:, 0] == factor).sum())):
            place, inside, known = len(main), truth == value, labels == value
            chosen = _main_latents(active, known, gain)
            special = np.setdiff1d(_specific(active, known, precision), chosen)
            main.append(tuple(map(int, chosen)))
            absorbing.append(tuple(map(int, special)))
            if not inside.any():
                continue
            seen, instead = fresh[:, chosen].sum(1) > 0, fresh[:, special].sum(1) > 0
            f1[place] = 2 * (seen & inside).sum() / (seen.sum() + inside.sum())
            missed[place] = 1 - seen[inside].mean()
            if f1[place] >= RELIABLE:
                share[place] = (~seen & instead)[inside].mean()
    score = float(np.nanmean(share)) if (~np.isnan(share)).any() else 0.0
    lost = train.missing + held_out.missing
    return Absorption(score, values, share, missed, f1, tuple(main), tuple(absorbing), missing=lost)


def values_of(sample: Labelled) -> Integers:
    """Return the values (V, 2) of the factors that vary: the factor, and the number of the class."""
    counts = {factor: int(sample.factors[:, factor].max()) + 1 for factor in sample.varying.tolist()}
    return np.array([(factor, value) for factor, count in counts.items() for value in range(count)], np.int64)


def _column(codes: Any, latent: int) -> Floats:
    column: Floats = codes.matrix[:, [latent]].toarray()[:, 0] if isinstance(codes, SparseCodes) else codes[:, latent]
    return column


def _blocks(codes: Any, classes: int) -> Iterator[tuple[int, SparseCodes]]:
    """Yield some latents at a time as sparse codes, with the number of the first."""
    from scipy.sparse import csr_array

    sparse = isinstance(codes, SparseCodes)
    step = max(1, TABLE // (classes if sparse else max(classes, len(codes))))
    for start in range(0, codes.shape[1], step):
        if sparse:
            yield (
                start,
                codes if step >= codes.shape[1] else SparseCodes(codes.columns[:, start : start + step].tocsr()),
            )
        else:
            yield start, SparseCodes(csr_array(codes[:, start : start + step]))


def _best_thresholds(codes: Any, labels: Integers, classes: int) -> tuple[Integers, Floats, Integers]:
    """Return the latent, the threshold and the sign (classes,) each with the best F1 for each class."""
    latent, threshold, sign = np.zeros(classes, np.int64), np.full(classes, np.inf), np.ones(classes, np.int64)
    best = np.full(classes, -1.0)
    for start, block in _blocks(codes, classes):
        for direction in (1, -1):
            f1, where, at = _block_thresholds(block, labels, classes, direction)
            better = f1 > best
            best[better], latent[better], threshold[better] = f1[better], start + where[better], at[better]
            sign[better] = direction
    return latent, threshold, sign


def _block_thresholds(
    codes: SparseCodes, labels: Integers, classes: int, direction: int
) -> tuple[Floats, Integers, Floats]:
    """Return the best F1, its latent and its threshold for each class, from samples at or above a threshold.

    Only the values of members of a class need to be tried as thresholds, and 0 where members are inactive.
    """
    n, latents = len(codes), codes.shape[1]
    members = np.bincount(labels, minlength=classes)
    latent, value, label = codes.latents, direction * codes.columns.data, labels[codes.columns.indices]
    silent = (n - codes.counts)[latent]
    cell = latent * classes + label
    active = np.bincount(cell, minlength=latents * classes)
    reached = _at_least(latent, value) + np.where(value < 0, silent, 0)  # samples that reach the threshold
    right = _at_least(cell, value) + np.where(value < 0, (np.tile(members, latents) - active)[cell], 0)
    above = np.bincount(latent[value > 0], minlength=latents)
    above_in = np.bincount(cell[value > 0], minlength=latents * classes)
    idle = np.arange(latents * classes)[active < np.tile(members, latents)]  # with 0 as the threshold
    where, which = np.concatenate([latent, idle // classes]), np.concatenate([label, idle % classes])
    cut = np.concatenate([value, np.zeros(len(idle))])
    total = np.concatenate([reached, (above + n - codes.counts)[idle // classes]])
    correct = np.concatenate([right, (above_in + np.tile(members, latents) - active)[idle]])
    f1 = np.where(total < n, 2 * correct / (total + members[which]), -1.0)
    order = np.lexsort((where, -f1, which))  # by class, the best first
    first = np.searchsorted(which[order], np.arange(classes))
    found = np.array([order[place] for place in first.clip(max=max(0, len(order) - 1))], np.int64)
    there = members > 0
    return np.where(there, f1[found], -1.0), where[found], cut[found]


def _at_least(group: Integers, value: Floats) -> Integers:
    """Return for each entry how many entries of its group have at least its value."""
    order = np.lexsort((-value, group))
    ordered, values = group[order], value[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(order)])
    last = np.r_[(ordered[1:] != ordered[:-1]) | (values[1:] != values[:-1]), True][-len(order) :] if len(order) else []
    ends = np.flatnonzero(last)  # the last entry of each run of equal values
    run = np.searchsorted(ends, np.arange(len(order)))
    begin = starts[np.searchsorted(starts, np.arange(len(order)), side="right") - 1]
    counts = np.empty(len(order), np.int64)
    counts[order] = ends[run] + 1 - begin
    return counts


def _best_areas(codes: Any, labels: Integers, classes: int) -> tuple[Integers, Integers]:
    """Return the latent whose ROC area is farthest from 1/2 for each class, and 1, or -1 if the area is below."""
    latent, sign, best = np.zeros(classes, np.int64), np.ones(classes, np.int64), np.full(classes, -1.0)
    n, members = len(labels), np.bincount(labels, minlength=classes)
    others = np.maximum(n - members, 1)
    for start, block in _blocks(codes, classes):
        ranks = sparse_ranks(block)
        cell = ranks.latents * classes + labels[ranks.columns.indices]
        inside = np.bincount(cell, ranks.columns.data, block.shape[1] * classes).reshape(-1, classes)
        area = (inside / np.maximum(members, 1) - inside.sum(1, keepdims=True) / n) / others  # minus 1/2
        most = np.abs(area).argmax(0)
        found = area[most, np.arange(classes)]
        better = np.abs(found) > best
        best[better], latent[better] = np.abs(found)[better], start + most[better]
        sign[better] = np.where(found[better] < 0, -1, 1)
    return latent, sign


def _active(codes: Any) -> Any:
    """Return where latents are active (N, D), as a CSC array of ones."""
    from scipy.sparse import csc_array

    columns = codes.columns if isinstance(codes, SparseCodes) else csc_array(codes)
    return csc_array((np.ones(columns.nnz), columns.indices, columns.indptr), shape=columns.shape)


def _main_latents(active: Any, inside: Any, gain: float) -> list[int]:
    """Return the latents whose activity recognises the samples ``inside`` (N,), the best first."""
    chosen: list[int] = []
    best, covered = 0.0, np.zeros(len(inside), bool)
    telling = active.sum(0) < len(inside)  # active everywhere, a latent tells nothing
    while True:
        new = active.T @ (~covered).astype(float)
        right = active.T @ (inside & ~covered).astype(float)
        f1 = 2 * (right + (covered & inside).sum()) / (new + covered.sum() + inside.sum())
        latent = int(np.where(telling, f1, -1.0).argmax())
        if not telling[latent] or f1[latent] <= best + (gain if chosen else 0.0):
            return chosen
        chosen.append(latent)
        best = float(f1[latent])
        covered |= active[:, [latent]].toarray()[:, 0] > 0


def _specific(active: Any, inside: Any, precision: float) -> Integers:
    """Return the latents that are nearly always active on samples ``inside`` (N,) if they are active."""
    from scipy.stats import binom

    count, right = active.sum(0), active.T @ inside.astype(float)
    often = np.flatnonzero((right >= precision * count) & (count > 0))
    by_chance = binom.sf(right[often] - 1, count[often], inside.mean())
    return np.asarray(often[by_chance < CHANCE / active.shape[1]], np.int64)
