"""Fit one model per factor in parallel; each fit uses a single thread, so results do not depend on the workers."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from unweave.errors import whole
from unweave.metrics.estimators.sparse_linear import sparse_logistic, sparse_one_vs_rest, sparse_ridge
from unweave.metrics.scoring.inputs import Floats, Integers
from unweave.metrics.scoring.sparse_codes import ShiftedCodes

T = TypeVar("T")
LIBLINEAR = threading.Lock()
# scikit-learn's Parallel replaces the warning filters of the process for a moment, which is not safe in threads:
# whatever uses it (forests, one-versus-rest, cross-validation) is called with this lock.
SKLEARN_PARALLEL = threading.RLock()
_workers: ContextVar[int | None] = ContextVar("workers", default=None)


@contextmanager
def limited(workers: int | None) -> Iterator[None]:
    """Limit the threads or processes that metrics use within the block; None leaves the limit as it was."""
    if workers is None:
        yield
        return
    token = _workers.set(whole("workers", workers, at_least=1))
    try:
        yield
    finally:
        _workers.reset(token)


def allowed_workers() -> int:
    """Return how many threads or processes may be used: one per core, or as many as :func:`limited` allows."""
    cores = max(1, os.cpu_count() or 1)
    limit = _workers.get()
    return cores if limit is None else min(limit, cores)


def each_factor(fit: Callable[[int], T], factors: Iterable[int], *, costs: Any = None) -> list[T]:
    """Call ``fit`` for each factor and return the results in order; the costliest are started first.

    Numerical libraries are limited to one thread, so that sums are taken in one order.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(), threadpool_limits(1):
        # the published settings stop after 100 iterations, converged or not
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings(
            "ignore", "The number of unique classes"
        )  # many classes in a small sample are still classes
        with ThreadPoolExecutor(allowed_workers()) as pool:
            numbers = [int(factor) for factor in factors]
            order = range(len(numbers)) if costs is None else np.argsort(-np.asarray(costs), kind="stable").tolist()
            begun = {position: pool.submit(fit, numbers[position]) for position in order}
            return [begun[position].result() for position in range(len(numbers))]


def logistic_regression(codes: Any, classes: Integers, **settings: Any) -> Any:
    """Fit scikit-learn's logistic regression, or the same to standardised sparse codes."""
    if isinstance(codes, ShiftedCodes):
        return sparse_logistic(codes, classes, **settings)
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(**settings).fit(codes, classes)


def linear_svm(codes: Any, classes: Integers, **settings: Any) -> Any:
    """Fit scikit-learn's linear support vector machine, one at a time.

    liblinear has one random generator per process: fits that run at the same time would take each other's numbers.
    """
    from sklearn.svm import LinearSVC

    with LIBLINEAR:
        return LinearSVC(**settings).fit(codes, classes)


def one_vs_rest(codes: Any, classes: Integers) -> Any:
    """Fit one of scikit-learn's binary logistic regressions per class, each class against the rest."""
    if isinstance(codes, ShiftedCodes):
        return sparse_one_vs_rest(codes, classes)
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    with SKLEARN_PARALLEL:
        return OneVsRestClassifier(LogisticRegression()).fit(codes, classes)


def linear_regression(codes: Any, values: Floats) -> Any:
    """Fit scikit-learn's linear regression."""
    from sklearn.linear_model import LinearRegression

    return LinearRegression().fit(codes, values)


def ridge(codes: Any, values: Floats) -> Any:
    """Fit scikit-learn's ridge regression with its default penalty."""
    if isinstance(codes, ShiftedCodes):
        return sparse_ridge(codes, values)
    from sklearn.linear_model import Ridge

    return Ridge().fit(codes, values)


def agreement(guess: Any, truth: Any) -> float:
    """Return the accuracy of predicted classes, or the R² of predicted numbers."""
    return r_squared(guess, truth) if truth.dtype.kind == "f" else float(np.mean(guess == truth))


def r_squared(guess: Floats, truth: Floats) -> float:
    """Return the share of the variance that predictions explain, 0 if they explain none."""
    total = float(((truth - truth.mean()) ** 2).sum()) if len(truth) else 0.0
    return max(0.0, 1 - float(((truth - guess) ** 2).sum()) / total) if total > 0 else 0.0


def probabilities(model: Any, codes: Any, classes: int) -> Floats:
    """Return the predicted probability of each class (N, classes), 0 for classes missing from the training sample."""
    table = np.zeros((codes.shape[0], classes))
    table[:, model.classes_] = model.predict_proba(codes)
    return table
