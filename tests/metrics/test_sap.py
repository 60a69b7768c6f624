from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from tests.metrics.samples import mixed
from unweave.errors import InputError
from unweave.metrics import sap


def test_two_classes_on_one_latent() -> None:
    labels = np.random.default_rng(0).integers(0, 2, (400, 2))
    alone = sap(labels * 2.0 - 1, labels)
    assert alone.score > 0.4  # the other latent guesses
    assert alone.predictability[0, 0] == alone.predictability[1, 1] == 1
    twice = sap(np.hstack([labels, labels]) * 2.0 - 1, labels)
    assert twice.score == 0


def test_squared_correlation_by_numpy() -> None:
    rng = np.random.default_rng(0)
    codes, factors = rng.normal(size=(100, 3)), rng.normal(size=(100, 2))
    squared = np.corrcoef(codes.T, factors.T)[:3, 3:] ** 2
    ordered = np.sort(squared, axis=0)
    result = sap(codes, factors, method="correlation")
    np.testing.assert_allclose(result.predictability, squared)
    assert result.score == pytest.approx((ordered[-1] - ordered[-2]).mean())
    with pytest.raises(InputError, match="'svm' or 'correlation'"):
        sap(codes, factors, method="tree")  # type: ignore[arg-type]


def test_codes_that_would_never_end_are_refused() -> None:
    codes, factors = mixed(60)
    with pytest.raises(InputError, match="codes above 1e50"):
        sap(codes * 1e80, factors)
    assert sap(codes * 1e80, factors, standardise=True).score == sap(codes, factors, standardise=True).score


def test_standardised_codes_are_those_of_scikit_learns_scaler() -> None:
    codes, factors = mixed(300)
    test = codes[200:] * 0.01, factors[200:]
    train = codes[:200] * 0.01, factors[:200]
    scaler = StandardScaler().fit(train[0])
    by_hand = sap(scaler.transform(train[0]), train[1], test=(scaler.transform(test[0]), test[1]))
    found = sap(*train, test=test, standardise=True)
    np.testing.assert_allclose(found.predictability, by_hand.predictability, atol=0.011)  # one of 100 may change sides
    assert found.score > sap(*train, test=test).score + 0.02  # small codes are lost to the penalty
