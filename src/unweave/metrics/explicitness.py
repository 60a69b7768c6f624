"""Explicitness: can a linear classifier read each factor off the codes?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from unweave.metrics.fitting import each_factor, logistic_regression, probabilities
from unweave.metrics.inputs import Codes, Factors, Floats, Integers, fit_and_test, standardised


@dataclass(frozen=True, eq=False)
class Explicitness:
    """The score on the test sample, and what it is made of."""

    score: float
    train: float
    per_factor: Floats  # (K,) on the test sample, NaN for a constant factor


def explicitness(codes: Codes, factors: Factors, *, test: tuple[Any, Any] | None = None, seed: int = 0) -> Explicitness:
    """Mean over factors of the ROC area of logistic regression, one class against the rest (Ridgeway & Mozer 2018).

    scikit-learn's default regression on standardised codes, as in Locatello et al. 2019; 0.5 is chance, 1 is perfect.
    Areas are averaged over the classes that occur in the sample and are not all of it; disentanglement_lib fails where
    the test sample lacks a class. Constant latents are 0 after standardising, where it divides by 0. Constant factors
    are left out.
    """
    train, held_out = fit_and_test("explicitness", codes, factors, test, seed)
    x_train, x_test = standardised(train.codes, held_out.codes)
    classes = int(max(train.factors.max(), held_out.factors.max())) + 1

    def areas(factor: int) -> tuple[float, float]:
        model = logistic_regression(x_train, train.factors[:, factor])
        return (
            roc_area(probabilities(model, x_train, classes), train.factors[:, factor]),
            roc_area(probabilities(model, x_test, classes), held_out.factors[:, factor]),
        )

    both = np.full((2, train.factors.shape[1]), np.nan)
    both[:, train.varying] = np.array(each_factor(areas, train.varying)).T
    on_train, on_test = np.nanmean(both, axis=1)
    return Explicitness(float(on_test), float(on_train), both[1])


def roc_area(scores: Floats, classes: Integers) -> float:
    """Mean over classes of the chance that a member outscores a stranger, by ranks; 0.5 if there is one class only."""
    counts = np.bincount(classes, minlength=scores.shape[1])
    present = np.flatnonzero((counts > 0) & (counts < len(classes)))
    if not len(present):
        return 0.5
    ranks = rankdata(scores[:, present], axis=0)  # (N, classes present)
    members = classes[:, None] == present
    positives = counts[present]
    wins = (ranks * members).sum(0) - positives * (positives + 1) / 2
    return float(np.mean(wins / (positives * (len(classes) - positives))))
