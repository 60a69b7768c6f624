from __future__ import annotations

import os
import threading
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tests.metrics.samples import mixed
from unweave import metrics
from unweave.errors import InputError
from unweave.metrics import dci
from unweave.metrics.estimators.parallel_fits import (
    allowed_workers,
    each_factor,
    limited,
    logistic_regression,
    probabilities,
)


def test_results_come_in_the_factors_order() -> None:
    assert each_factor(lambda factor: factor**2, np.array([3, 1, 2])) == [9, 1, 4]


def test_a_failure_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        each_factor(lambda factor: 1 // factor, [1, 0])


def test_published_limits_on_iterations_do_not_warn() -> None:
    def warn(factor: int) -> None:
        warnings.warn("not converged", ConvergenceWarning, stacklevel=1)

    each_factor(warn, [0])


@pytest.mark.parametrize("name", ["dci", "sap", "explicitness", "infomec"])
def test_the_number_of_workers_changes_no_bit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    codes, labels = mixed(400)
    scores = []
    for workers in (1, 2, 5):
        monkeypatch.setattr(os, "cpu_count", lambda workers=workers: workers)
        scores.append(getattr(metrics, name)(codes, labels, seed=1).score)
    assert scores[0] == scores[1] == scores[2]


def test_a_limit_on_workers_holds_within_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    four, two = threading.Barrier(4, timeout=60), threading.Barrier(2, timeout=0.3)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    each_factor(lambda factor: four.wait(), range(4))  # four at a time
    with limited(1):
        with limited(None):
            assert allowed_workers() == 1
        with pytest.raises(threading.BrokenBarrierError):
            each_factor(lambda factor: two.wait(), range(4))  # never two at a time
    with limited(9):
        assert allowed_workers() == 4
    with pytest.raises(InputError, match="workers must be a whole number of at least 1, got -1"), limited(-1):
        pass


def test_support_vector_machines_fitted_at_the_same_time_change_no_bit() -> None:
    """liblinear draws from one generator per process."""
    codes, labels = mixed(400)
    found = [dci(codes, labels, importance="svm").importance for _ in range(4)]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_classes_a_model_never_saw_have_no_chance() -> None:
    codes = np.array([[0.0], [0.1], [1.0], [1.1]])
    model = logistic_regression(codes, np.array([0, 0, 2, 2]))
    table = probabilities(model, codes, 4)
    assert table.shape == (4, 4)
    assert (table[:, [1, 3]] == 0).all()
    np.testing.assert_allclose(table.sum(1), 1)
