from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from tests.metrics.samples import mixed
from unweave.errors import InputError
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


def test_one_versus_rest_fits_one_regression_per_class() -> None:
    codes, factors = mixed(400)
    codes = (codes - codes.mean(0)) / codes.std(0)
    column = factors[:, 2]
    members = np.eye(5)[column]
    chances = [LogisticRegression().fit(codes, members[:, c]).predict_proba(codes)[:, 1] for c in range(5)]
    table = np.stack(chances, axis=1)
    expected = roc_auc_score(members, table / table.sum(1, keepdims=True), average="macro")
    settings: dict[str, Any] = {"test": (codes, factors[:, 2:])}
    one, other = (explicitness(codes, factors[:, 2:], classifier=c, **settings) for c in ("one-vs-rest", "multinomial"))
    assert one.score == pytest.approx(expected, abs=1e-6)
    assert other.score > one.score + 0.01  # a line through five classes has its middle ones only together
    with pytest.raises(InputError, match="classifier must be 'multinomial' or 'one-vs-rest', got 'ovr'"):
        explicitness(codes, factors, classifier="ovr")  # type: ignore[arg-type]
