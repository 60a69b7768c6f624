"""Fit a model a factor: side by side on threads, each by itself, so that the number of threads changes no bit."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from unweave.metrics.inputs import Floats, Integers

T = TypeVar("T")


def each_factor(fit: Callable[[int], T], factors: Iterable[int], *, costs: Any = None) -> list[T]:
    """``fit`` of each factor, in their order; the costliest are begun first, so that none is left to the end alone.

    Inner libraries get one thread, so that sums are made in one order.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(), threadpool_limits(1):
        # published settings stop at 100 iterations, converged or not
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings(
            "ignore", "The number of unique classes"
        )  # few samples of many classes are still classes
        with ThreadPoolExecutor(max(1, os.cpu_count() or 1)) as pool:
            numbers = [int(factor) for factor in factors]
            order = range(len(numbers)) if costs is None else np.argsort(-np.asarray(costs), kind="stable").tolist()
            begun = {position: pool.submit(fit, numbers[position]) for position in order}
            return [begun[position].result() for position in range(len(numbers))]


def logistic_regression(codes: Any, classes: Integers, **settings: Any) -> Any:
    """scikit-learn's logistic regression, fitted."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(**settings).fit(codes, classes)


def probabilities(model: Any, codes: Any, classes: int) -> Floats:
    """What a fitted classifier thinks of each class (N, classes), 0 for classes it has never seen."""
    table = np.zeros((codes.shape[0], classes))
    table[:, model.classes_] = model.predict_proba(codes)
    return table
