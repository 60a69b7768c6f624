"""Explicitness: can a linear classifier predict each factor from the codes?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from unweave.errors import InputError
from unweave.metrics.estimators.parallel_fits import (
    each_factor,
    logistic_regression,
    one_vs_rest,
    probabilities,
    r_squared,
    ridge,
)
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.inputs import (
    Codes,
    Factors,
    Floats,
    Integers,
    LabelResult,
    fit_and_test,
    standardised,
)
from unweave.settings import Seed

CLASSIFIERS = {"multinomial": logistic_regression, "one-vs-rest": one_vs_rest}


@dataclass(frozen=True, eq=False)
class Explicitness(LabelResult):
    """The score on the test sample, the score on the training sample and the test score of each factor."""

    score: float
    train: float
    per_factor: Floats  # (K,) on the test sample, NaN for a constant factor


def explicitness(
    codes: Codes,
    factors: Factors,
    *,
    classifier: Literal["multinomial", "one-vs-rest"] = "multinomial",
    kinds: Kinds = None,
    test: tuple[Any, Any] | None = None,
    seed: Seed = 0,
) -> Explicitness:
    """Compute the mean over factors of the ROC area of a logistic regression, one class against the rest.

    Ridgeway & Mozer 2018. The regression is fitted to standardised codes with scikit-learn's default settings. 0.5 is
    chance, 1 is perfect. Areas are averaged over the classes that occur in the sample, if there are several;
    disentanglement_lib fails if a class is missing from the test sample. Constant latents become 0, where
    disentanglement_lib divides by 0. Constant factors are left out.

    Args:
        codes: The codes (N, D).
        factors: The values of the factors (N, K).
        classifier: ``"multinomial"`` is scikit-learn's default since version 0.22 and what disentanglement_lib gives
            with it; ``"one-vs-rest"`` fits one binary regression per class, as described in Locatello et al. 2019,
            appendix B.
        kinds: The kind of each factor, as a list or by column; by default columns of floats are continuous. For
            these, the score is the R² of a ridge regression, of which 0 is chance.
        test: Codes and factors of the test sample; by default the given sample is split.
        seed: The seed of the split.

    Returns:
        The mean area on the test and on the training sample, and the area of each factor.

    Examples:
        >>> import torch
        >>> from unweave.metrics import explicitness
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> explicitness(factors, factors).score
        1.0
        >>> explicitness(torch.zeros(200, 2), factors).score  # chance
        0.5
    """
    if classifier not in CLASSIFIERS:
        raise InputError(f"explicitness: classifier must be 'multinomial' or 'one-vs-rest', got {classifier!r}.")
    fit = CLASSIFIERS[classifier]
    train, held_out = fit_and_test("explicitness", codes, factors, test, seed, kinds=kinds, sparse=True)
    x_train, x_test = standardised(train.codes, held_out.codes)
    classes = int(max(train.factors.max(), held_out.factors.max())) + 1

    def areas(factor: int) -> tuple[float, float]:
        (x, y), (x_new, y_new) = train.of(factor, x_train), held_out.of(factor, x_test)
        if train.continuous[factor]:
            regression = ridge(x, y)
            return r_squared(regression.predict(x), y), r_squared(regression.predict(x_new), y_new)
        model = fit(x, y)
        return roc_area(probabilities(model, x, classes), y), roc_area(probabilities(model, x_new, classes), y_new)

    both = np.full((2, train.factors.shape[1]), np.nan)
    both[:, train.varying] = np.array(each_factor(areas, train.varying)).T
    on_train, on_test = np.nanmean(both, axis=1)
    return Explicitness(float(on_test), float(on_train), both[1], missing=train.missing + held_out.missing)


def roc_area(scores: Floats, classes: Integers) -> float:
    """Return the mean over classes of the probability that a member outscores a non-member, 0.5 for one class."""
    from scipy.stats import rankdata

    counts = np.bincount(classes, minlength=scores.shape[1])
    present = np.flatnonzero((counts > 0) & (counts < len(classes)))
    if not len(present):
        return 0.5
    ranks = rankdata(scores[:, present], axis=0)  # (N, classes present)
    members = classes[:, None] == present
    positives = counts[present]
    wins = (ranks * members).sum(0) - positives * (positives + 1) / 2
    return float(np.mean(wins / (positives * (len(classes) - positives))))
