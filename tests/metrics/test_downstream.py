from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import KFold

from tests.metrics.samples import factors, mixed
from unweave.errors import InputError
from unweave.metrics import Scores, downstream


def test_accuracy_grows_with_labels_and_efficiency_is_its_ratio() -> None:
    codes, labels = mixed(1200)
    result = downstream(codes, labels, sizes=(10, 100, 800))
    assert result.sizes == (10, 100, 800)
    assert result.logistic.shape == result.boosted.shape == (3, 3)
    assert result.boosted[2].mean() > result.boosted[1].mean() > result.boosted[0].mean()
    assert result.efficiency_boosted == pytest.approx(result.boosted[1].mean() / result.boosted[2].mean())
    assert result.score == pytest.approx((result.logistic[-1].mean() + result.boosted[-1].mean()) / 2)


def test_sizes_beyond_the_sample_are_left_out() -> None:
    labels = factors(60)
    assert downstream(labels.astype(float), labels).sizes == (10,)
    with pytest.raises(InputError, match="sizes must be a whole number of at least 2"):
        downstream(labels.astype(float), labels, sizes=(1, 10))
    for wrong in (10, "10"):
        with pytest.raises(InputError, match="sizes must be a list of numbers of labels, like"):
            downstream(labels.astype(float), labels, sizes=wrong)  # type: ignore[arg-type]


def test_few_labels_of_one_class_are_answered_by_that_class() -> None:
    labels = np.r_[np.zeros(50, int), np.ones(50, int)]
    codes = labels[:, None].astype(float)
    result = downstream(codes, labels, sizes=(10,), test=(codes, labels))
    assert result.logistic[0, 0] == result.boosted[0, 0] == 0.5


def test_codes_as_they_are_have_the_accuracy_of_scikit_learn() -> None:
    """LogisticRegressionCV on codes of a small scale: what a strength of 1e-4 to 1e4 can do depends on the scale."""
    codes, labels = mixed(600)
    codes = codes * 1e-3
    plain = downstream(codes[:400], labels[:400], sizes=(400,), standardise=False, test=(codes[400:], labels[400:]))
    model = LogisticRegressionCV(
        Cs=10, cv=KFold(5), scoring="accuracy", use_legacy_attributes=False, l1_ratios=(0.0,)
    ).fit(codes[:400], labels[:400, 0])
    assert plain.logistic[0, 0] == pytest.approx(model.score(codes[400:], labels[400:, 0]))
    scaled = downstream(codes[:400], labels[:400], sizes=(400,), test=(codes[400:], labels[400:]))
    assert scaled.logistic.mean() > plain.logistic.mean()


def test_every_classifier_and_number_of_labels_is_a_score() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=(300, 2))
    result = downstream(labels + 0.5 * rng.normal(size=labels.shape), labels, sizes=(10, 100))
    table = Scores({"downstream": result}).table
    assert table["downstream.logistic_10"] == pytest.approx(result.logistic[0].mean())
    assert table["downstream.boosted_100"] == pytest.approx(result.boosted[1].mean())
    assert np.isnan(table["downstream.boosted_10000"])
    with pytest.raises(AttributeError):
        _ = result.logistic_few
