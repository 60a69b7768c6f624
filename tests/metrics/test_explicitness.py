from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from unweave.metrics import explicitness
from unweave.metrics.explicitness import roc_area


def test_the_area_is_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    classes, scores = rng.integers(0, 4, 200), rng.uniform(size=(200, 4)).round(1)  # with ties
    expected = roc_auc_score(np.eye(4)[classes], scores, average="macro")
    assert roc_area(scores, classes) == pytest.approx(expected)


def test_only_classes_that_occur_count() -> None:
    scores = np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]])
    assert roc_area(scores, np.array([0, 1])) == 1.0
    assert roc_area(scores, np.array([0, 0])) == 0.5


def test_what_is_there_but_not_linear_is_not_explicit() -> None:
    values = np.random.default_rng(0).integers(0, 4, (600, 1))
    parity = values % 2  # 0, 1, 0, 1 along the line
    assert explicitness(values.astype(float), parity).score < 0.8
    assert explicitness(np.eye(4)[values[:, 0]], parity).score == pytest.approx(1)
