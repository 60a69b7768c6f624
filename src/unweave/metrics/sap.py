"""Separated attribute predictability: by how much does the best latent predict a factor better than the second best?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from unweave.errors import InputError
from unweave.metrics.fitting import each_factor
from unweave.metrics.information import top_two
from unweave.metrics.inputs import (
    Codes,
    Factors,
    Floats,
    Integers,
    check_codes,
    check_factors,
    continuous_columns,
    fit_and_test,
)
from unweave.metrics.mcc import correlations, numbers


@dataclass(frozen=True, eq=False)
class SAP:
    """The score, and what it is made of."""

    score: float
    per_factor: Floats  # (K,), NaN for a constant factor
    predictability: Floats  # (D, K): test accuracy, or squared correlation


def sap(
    codes: Codes,
    factors: Factors,
    *,
    method: Literal["svm", "correlation"] | None = None,
    test: tuple[Any, Any] | None = None,
    seed: int = 0,
) -> SAP:
    """Mean over factors of the best minus the second-best latent's predictability (Kumar et al. 2018).

    ``"svm"``: test accuracy of scikit-learn's ``LinearSVC(C=0.01, class_weight="balanced")`` on one latent, as in
    Locatello et al. 2019. ``"correlation"``: squared correlation with the factor as a number, without a test sample,
    for continuous factors; by default where there are any. Constant factors are left out; with one latent, the second
    best is 0.
    """
    if method is None:
        method = "correlation" if continuous_columns(check_factors("sap", factors)) else "svm"
    if method == "correlation":
        x, y = check_codes("sap", codes), numbers("sap", factors)
        if len(x) != len(y):
            raise InputError(f"sap: there are {len(x):,} codes and {len(y):,} rows of factors.")
        return _gaps(correlations(x, y) ** 2, np.flatnonzero(np.ptp(y, axis=0) > 0))
    if method != "svm":
        raise InputError(f"sap: method must be 'svm' or 'correlation', got {method!r}.")
    train, held_out = fit_and_test("sap", codes, factors, test, seed)
    if np.abs(train.codes).max() > 1e50:
        raise InputError("sap: codes beyond 1e50 keep the support vector machine busy for ever: divide them first.")

    def accuracies(factor: int) -> Floats:
        from sklearn.svm import LinearSVC

        scores = []
        for latent in range(train.codes.shape[1]):
            model = LinearSVC(C=0.01, class_weight="balanced", random_state=seed)
            model.fit(train.codes[:, [latent]], train.factors[:, factor])
            guess = model.predict(held_out.codes[:, [latent]])
            scores.append(np.mean(guess == held_out.factors[:, factor]))
        return np.array(scores)

    predictability = np.full((train.codes.shape[1], train.factors.shape[1]), np.nan)
    predictability[:, train.varying] = np.stack(each_factor(accuracies, train.varying), axis=1)
    return _gaps(predictability, train.varying)


def _gaps(predictability: Floats, varying: Integers) -> SAP:
    if not len(varying):
        raise InputError("sap: needs a factor that varies.")
    per_factor = np.full(predictability.shape[1], np.nan)
    best, second = top_two(predictability[:, varying], axis=0)
    per_factor[varying] = best - second
    return SAP(float(np.mean(best - second)), per_factor, predictability)
