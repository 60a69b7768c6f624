"""Downstream: how well, and from how few labels, do simple classifiers learn the factors from the codes?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.errors import InputError, whole
from unweave.metrics.estimators.boosting import boost_each
from unweave.metrics.estimators.parallel_fits import SKLEARN_PARALLEL, agreement, allowed_workers, each_factor
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.inputs import (
    Codes,
    Factors,
    Floats,
    Labelled,
    LabelResult,
    fit_and_test,
    standardised,
)
from unweave.settings import Seed, Several

SIZES = (10, 100, 1_000, 10_000)


@dataclass(frozen=True, eq=False)
class Downstream(LabelResult):
    """Test accuracy (sizes, varying factors) of two predictors, for each number of labels in ``sizes``.

    For continuous factors it is R². ``logistic_100`` and the like are means over factors, the rows of figure 12 of
    Locatello et al. 2019.
    """

    sizes: tuple[int, ...]
    logistic: Floats
    boosted: Floats

    @property
    def score(self) -> float:
        """Mean accuracy of the two classifiers with the largest number of labels."""
        return float((self.logistic[-1].mean() + self.boosted[-1].mean()) / 2)

    @property
    def efficiency_logistic(self) -> float:
        """Statistical efficiency: mean accuracy with 100 labels over that with 10,000, or with the closest sizes."""
        return self._efficiency(self.logistic)

    @property
    def efficiency_boosted(self) -> float:
        """Statistical efficiency of gradient boosting."""
        return self._efficiency(self.boosted)

    def __getattr__(self, name: str) -> float:
        """Return the mean accuracy for a name such as ``logistic_100``; NaN if that number of labels was left out."""
        classifier, _, labels = name.rpartition("_")
        if classifier not in ("logistic", "boosted") or not labels.isdecimal():
            raise AttributeError(name)
        accuracy: Floats = getattr(self, classifier)
        return float(accuracy[self.sizes.index(int(labels))].mean()) if int(labels) in self.sizes else float("nan")

    def _efficiency(self, accuracy: Floats) -> float:
        few = int(np.argmin([abs(np.log(size / 100)) for size in self.sizes]))
        return float(accuracy[few].mean() / max(accuracy[-1].mean(), np.finfo(np.float64).tiny))


def downstream(
    codes: Codes,
    factors: Factors,
    *,
    sizes: Sequence[Several] = SIZES,
    standardise: bool = True,
    kinds: Kinds = None,
    test: tuple[Any, Any] | None = None,
    seed: Seed = 0,
) -> Downstream:
    """Compute the test accuracy of logistic regression and gradient boosting (Locatello et al. 2019, sec. 5.6, app. C).

    Logistic regression is scikit-learn's, with its strength chosen from 10 by 5-fold cross-validation, or with default
    strength if a fold lacks classes. Gradient boosting has scikit-learn's default settings (see
    :mod:`unweave.metrics.estimators.boosting`). Constant factors are left out.

    Args:
        codes: The codes (N, D).
        factors: The values of the factors (N, K).
        sizes: The numbers of labels to fit to: the first 10, 100, … of the training sample. Sizes larger than the
            sample are left out.
        standardise: Whether logistic regression is fitted to standardised codes. False is the form of the paper and of
            disentanglement_lib, with which results depend on the scale of the codes.
        kinds: The kind of each factor, as a list or by column; by default columns of floats are continuous. For
            these, logistic regression is replaced by ridge regression with a cross-validated penalty, boosting has
            squared error, and accuracy is R².
        test: Codes and factors of the test sample; by default the given sample is split.
        seed: The seed of the split and of the fits.

    Returns:
        The accuracies by classifier, number of labels and factor; ``score`` is their mean at the largest number.

    Examples:
        >>> import torch
        >>> from unweave.metrics import downstream
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> downstream(factors, factors, sizes=[100]).score
        1.0
    """
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise InputError(f"downstream: sizes must be a list of numbers of labels, like (10, 100), got {sizes!r}.")
    train, held_out = fit_and_test("downstream", codes, factors, test, seed, kinds=kinds)
    wanted = sorted({whole("downstream: sizes", size, at_least=2) for size in sizes})
    usable = tuple(size for size in wanted if size <= len(train.codes)) or (len(train.codes),)
    logistic = each_factor(lambda factor: _logistic(train, held_out, factor, usable, standardise), train.varying)
    boosted = _boosted(train, held_out, usable, seed)
    missing = train.missing + held_out.missing
    return Downstream(usable, np.stack(logistic, axis=-1), boosted, missing=missing)


def _logistic(train: Labelled, test: Labelled, factor: int, sizes: Sequence[int], standardise: bool) -> Floats:
    """Return the accuracy (sizes,) of logistic regression, or of the only class if there is a single one."""
    accuracy = np.empty(len(sizes))
    for row, size in enumerate(sizes):
        (x, labels), (x_test, truth) = train.of(factor), test.of(factor)
        x, labels = x[:size], labels[:size]
        if standardise:
            x, x_test = standardised(x, x_test)
        guess = labels[0] if len(np.unique(labels)) == 1 else _cross_validated(x, labels).predict(x_test)
        accuracy[row] = agreement(guess, truth)
    return accuracy


def _boosted(train: Labelled, test: Labelled, sizes: Sequence[int], seed: int) -> Floats:
    """Return the accuracy (sizes, K) of gradient boosting, or of the only class if there is a single one."""
    tasks = [(size, factor) for size in sizes for factor in train.varying.tolist()]
    samples = {factor: (*train.of(factor), test.of(factor)[0]) for factor in train.varying.tolist()}
    jobs = [(x[:size], y[:size], new) for size, (x, y, new) in ((size, samples[factor]) for size, factor in tasks)]
    fitted = boost_each(jobs, seed=seed, workers=allowed_workers())
    right = [agreement(m.test, test.of(factor)[1]) for m, (_, factor) in zip(fitted, tasks, strict=True)]
    return np.array(right).reshape(len(sizes), -1)


def _cross_validated(codes: Floats, labels: Any) -> Any:
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeCV
    from sklearn.model_selection import KFold

    if labels.dtype.kind == "f":
        return RidgeCV(np.logspace(-4, 4, 10)).fit(codes, labels)
    folds = KFold(5)
    complete = len(codes) >= 10 and all(
        len(np.unique(labels[rows])) == len(np.unique(labels)) for rows, _ in folds.split(codes)
    )
    if not complete:
        return LogisticRegression().fit(codes, labels)
    model = LogisticRegressionCV(Cs=10, cv=folds, scoring="accuracy", use_legacy_attributes=False, l1_ratios=(0.0,))
    with SKLEARN_PARALLEL:
        return model.fit(codes, labels)
