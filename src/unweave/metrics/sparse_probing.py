"""k-sparse probing: how well do a few latents predict each value of each factor?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.metrics.estimators.parallel_fits import each_factor, logistic_regression
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.inputs import (
    Codes,
    Factors,
    Floats,
    Integers,
    LabelResult,
    fit_and_test,
)
from unweave.metrics.scoring.sparse_codes import SparseCodes
from unweave.metrics.scoring.vectors import Groups
from unweave.metrics.single_latents import values_of
from unweave.settings import Count, Seed


@dataclass(frozen=True, eq=False)
class SparseProbing(LabelResult):
    """The mean balanced accuracy over values, that of each value, and the latents that its probe uses."""

    score: float
    values: Integers  # (V, 2), a factor, and the place of the value among its sorted values
    per_value: Floats  # (V,), NaN for a value that one of the two samples does not have
    latents: Integers  # (V, k), those that differ most first


def sparse_probing(
    codes: Codes,
    factors: Factors,
    *,
    k: Count = 5,
    kinds: Kinds = None,
    groups: Groups = None,
    test: tuple[Any, Any] | None = None,
    seed: Seed = 0,
) -> SparseProbing:
    """Compute the accuracy of logistic regressions on the k latents that differ most between a value and the rest.

    Gurnee et al. 2023. For each value of each factor, the k latents with the largest absolute difference between their
    mean on samples with the value and on all others are selected on the training sample, as in SAEBench (Karvonen et
    al. 2025), and a logistic regression with balanced classes is fitted to them. The accuracy is balanced, the mean of
    those with and without the value on the test sample, because values are rarer than the rest; SAEBench has as many
    samples of both instead. Codes are used as they are: latents of a larger scale are preferred.

    Args:
        codes: The codes (N, D).
        factors: The values of the factors (N, K).
        k: The number of latents of a probe, all if there are fewer; SAEBench has 1, 2 and 5.
        kinds: The kind of each factor, as a list or by column; continuous ones are put into 20 bins of equal counts.
        groups: The columns of each latent that is a vector, or the number of columns per latent; each is replaced by
            its first principal component.
        test: Codes and factors of the test sample; by default the given sample is split.
        seed: The seed of the split.

    Returns:
        The mean accuracy, that of each value, and the latents. Values that one of the samples does not have are left
        out; if none is left, the score is 1/2.

    Examples:
        >>> import numpy as np
        >>> from scipy.sparse import csr_array
        >>> from unweave.metrics import sparse_probing
        >>> factors = np.arange(600)[:, None] % 3  # one factor with three values
        >>> codes = csr_array(1.0 * (factors == [0, 1, 2, 9]))  # a latent for each value, and one that is never active
        >>> sparse_probing(codes, factors, k=1).score
        1.0
    """
    train, held_out = fit_and_test(
        "sparse_probing", codes, factors, test, seed, kinds=kinds, groups=groups, sparse=True
    )
    values, k = values_of(train), min(k, train.codes.shape[1])
    latents = np.zeros((len(values), k), np.int64)
    for factor in train.varying.tolist():
        mine = values[:, 0] == factor
        inputs, labels = train.classes_of(factor)
        latents[mine] = _most_different(inputs, labels, int(mine.sum()), k)

    def accuracy(place: int) -> float:
        factor, value = values[place]
        (inputs, labels), (new, truth) = train.classes_of(factor), held_out.classes_of(factor)
        inside, wanted = labels == value, truth == value
        if not (0 < inside.sum() < len(inside) and 0 < wanted.sum() < len(wanted)):
            return np.nan
        x, x_new = _dense(inputs, latents[place]), _dense(new, latents[place])
        middle = x.mean(0)  # subtracted, because the solver is slow on codes that are far from 0
        model = logistic_regression(x - middle, inside.astype(np.int64), class_weight="balanced", max_iter=1000)
        right = (model.predict(x_new - middle) == 1) == wanted
        return float((right[wanted].mean() + right[~wanted].mean()) / 2)

    per_value = np.array(each_factor(accuracy, range(len(values))))
    score = float(np.nanmean(per_value)) if (~np.isnan(per_value)).any() else 0.5
    return SparseProbing(score, values, per_value, latents, missing=train.missing + held_out.missing)


def _most_different(codes: Any, labels: Integers, classes: int, k: int) -> Integers:
    """Return for each class the k latents (classes, k) whose means differ most between the class and the rest."""
    matrix = codes.matrix if isinstance(codes, SparseCodes) else codes
    total, found = np.asarray(matrix.sum(0)), np.empty((classes, k), np.int64)
    for value in range(classes):
        inside = labels == value
        members = int(inside.sum())
        within = inside.astype(np.float64) @ matrix  # (D,)
        apart = within / max(members, 1) - (total - within) / max(len(labels) - members, 1)
        found[value] = np.argsort(-np.abs(apart), kind="stable")[:k]
    return found


def _dense(codes: Any, latents: Integers) -> Floats:
    columns: Floats = codes.columns[:, latents].toarray() if isinstance(codes, SparseCodes) else codes[:, latents]
    return columns
