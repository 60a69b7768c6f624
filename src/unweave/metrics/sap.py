"""Separated attribute predictability: how much better does the best latent predict a factor than the second best?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from unweave.errors import InputError
from unweave.metrics.estimators.information import top_two
from unweave.metrics.estimators.parallel_fits import each_factor, linear_svm
from unweave.metrics.mcc import num_values, numbers, sparse_correlations, vector_correlations
from unweave.metrics.scoring.column_kinds import Kinds, integer_columns, kinds_of, warn_of_whole_floats
from unweave.metrics.scoring.inputs import (
    Codes,
    Factors,
    Floats,
    Integers,
    LabelResult,
    check_any_codes,
    check_factors,
    fit_and_test,
    standardised,
    usable_groups,
)
from unweave.metrics.scoring.sparse_codes import SparseCodes
from unweave.metrics.scoring.vectors import Groups, columns_of
from unweave.settings import Seed


@dataclass(frozen=True, eq=False)
class SAP(LabelResult):
    """The score, the gap of each factor and the table of predictabilities."""

    score: float
    per_factor: Floats  # (K,), NaN for a constant factor
    predictability: Floats  # (D, K): test accuracy, or squared correlation


def sap(
    codes: Codes,
    factors: Factors,
    *,
    method: Literal["svm", "correlation"] | None = None,
    standardise: bool = False,
    kinds: Kinds = None,
    groups: Groups = None,
    test: tuple[Any, Any] | None = None,
    seed: Seed = 0,
) -> SAP:
    """Compute the mean over factors of the best minus the second-best latent's predictability (Kumar et al. 2018).

    Constant factors are left out. With a single latent, the second best counts as 0.

    Args:
        codes: The codes (N, D).
        factors: The values of the factors (N, K).
        method: ``"svm"`` uses the test accuracy of scikit-learn's ``LinearSVC(C=0.01, class_weight="balanced")`` fitted
            to a single latent. ``"correlation"`` uses the squared correlation with the factor as a number and no test
            sample. By default, each factor has the method of its kind: ``"correlation"`` if it is continuous.
        standardise: Whether every latent is first given mean 0 and standard deviation 1, as in Locatello et al. 2019,
            appendix B. By default it is not, as in disentanglement_lib, and the penalty of the SVM makes the result
            depend on the scale of the codes.
        kinds: The kind of each factor, as a list or by column; by default columns of floats are continuous.
        groups: The columns of each latent that is a vector, or the number of columns per latent: classifiers take all
            of them, and the correlation is that of their best linear combination.
        test: Codes and factors of the test sample; by default the given sample is split.
        seed: The seed of the split and of the fits.

    Returns:
        The mean gap, the gap of each factor, and the table of predictabilities.

    Examples:
        >>> import torch
        >>> from unweave.metrics import sap
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> round(sap(factors, factors, method="correlation").score, 2)
        1.0
        >>> sap(factors.repeat(1, 2), factors).score  # each factor is in two latents
        0.0
    """
    if method not in (None, "svm", "correlation"):
        raise InputError(f"sap: method must be 'svm' or 'correlation', got {method!r}.")
    x, table = check_any_codes("sap", codes), check_factors("sap", factors)
    groups = usable_groups("sap", x, groups)
    columns = columns_of("sap", groups, x.shape[1])
    declared, whole_floats = kinds_of("sap", table, kinds, integers=integer_columns(factors, table))
    warn_of_whole_floats(whole_floats)
    real = np.array([kind == "continuous" for kind in declared])
    if method == "svm" and real.any():
        raise InputError(f"sap: method='svm' compares classes, but factor {real.argmax()} is continuous.")
    if method == "correlation" or (method is None and real.all()):
        y = numbers("sap", factors)
        if len(x) != len(y):
            raise InputError(f"sap: got {len(x):,} codes but {len(y):,} rows of factors.")
        related = (
            np.abs(sparse_correlations(x, y)) if isinstance(x, SparseCodes) else vector_correlations(x, y, columns)
        )
        return _gaps(related**2, np.flatnonzero(num_values(y) > 1), np.isnan(y).sum(0))
    train, held_out = fit_and_test("sap", codes, factors, test, seed, kinds=declared, sparse=True)
    sparse = isinstance(train.codes, SparseCodes)
    if not standardise and np.abs(train.codes.matrix.data if sparse else train.codes).max(initial=0) > 1e50:
        raise InputError(
            "sap: the support vector machine does not finish on codes above 1e50; rescale the codes first."
        )
    x, x_test = train.codes, held_out.codes
    if standardise and not sparse:
        x, x_test = standardised(x, x_test)

    def sparse_accuracies(factor: int) -> Floats:
        (inputs, labels), (new, truth) = train.of(factor), held_out.of(factor)
        if real[factor]:
            correlation: Floats = sparse_correlations(inputs, labels[:, None])[:, 0] ** 2
            return correlation
        mean, std = train.codes.scale if standardise else (np.zeros(len(columns)), np.ones(len(columns)))
        return _sparse_svms(inputs, labels, new, truth, mean, std)

    def accuracies(factor: int) -> Floats:
        scores = []
        (inputs, labels), (new, truth) = train.of(factor, x), held_out.of(factor, x_test)
        if real[factor]:
            squared: Floats = vector_correlations(inputs, labels[:, None], columns)[:, 0] ** 2
            return squared
        for group in columns:
            model = linear_svm(inputs[:, group], labels, C=0.01, class_weight="balanced", random_state=seed)
            scores.append(np.mean(model.predict(new[:, group]) == truth))
        return np.array(scores)

    predictability = np.full((len(columns), train.factors.shape[1]), np.nan)
    predictability[:, train.varying] = np.stack(
        each_factor(sparse_accuracies if sparse else accuracies, train.varying), axis=1
    )
    return _gaps(predictability, train.varying, train.missing + held_out.missing)


def _sparse_svms(
    codes: SparseCodes, labels: Integers, test: SparseCodes, truth: Integers, mean: Floats, std: Floats
) -> Floats:
    """Return the test accuracy (D,) of one support vector machine per latent, of codes minus mean over std."""
    from unweave.metrics.estimators.sparse_svm import svm_accuracies

    seen, places, counts = np.unique(labels, return_inverse=True, return_counts=True)
    known = np.where(np.isin(truth, seen), np.searchsorted(seen, truth), -1)
    entries = [
        (each.columns.indptr, each.columns.indices, (each.columns.data - mean[each.latents]) / std[each.latents])
        for each in (codes, test)
    ]
    starts, rows, values = entries[0]
    order = np.lexsort((places[rows], codes.latents))  # sums are taken class by class
    known_rows = starts, rows[order], values[order]
    accuracy: Floats = svm_accuracies(*known_rows, -mean / std, places, counts, entries[1], known, 0.01)
    return accuracy


def _gaps(predictability: Floats, varying: Integers, missing: Integers) -> SAP:
    if not len(varying):
        raise InputError("sap: needs at least one factor that varies, but all factors are constant.")
    per_factor = np.full(predictability.shape[1], np.nan)
    best, second = top_two(predictability[:, varying], axis=0)
    per_factor[varying] = best - second
    return SAP(float(np.mean(best - second)), per_factor, predictability, missing=missing)
