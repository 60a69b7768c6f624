from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import entropy
from sklearn.metrics import mutual_info_score

from unweave.errors import InputError
from unweave.metrics import information
from unweave.metrics.information import discretize, entropies, information_table, joint_counts, top_two

tables = arrays.arrays(np.int64, st.tuples(st.integers(2, 40), st.integers(1, 3)), elements=st.integers(0, 4))


@given(tables)
def test_information_is_scikit_learns_for_every_pair(table: np.ndarray) -> None:
    other = np.roll(table, 1, axis=0)
    found = information_table(table, other)
    for i in range(table.shape[1]):
        for j in range(table.shape[1]):
            assert found[i, j] == pytest.approx(mutual_info_score(table[:, i], other[:, j]), abs=1e-9)


@given(tables)
def test_entropies_are_scipys(table: np.ndarray) -> None:
    for found, column in zip(entropies(table), table.T, strict=True):
        assert found == pytest.approx(entropy(np.bincount(column)))


def test_counting_in_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 5, (1000, 3)), rng.integers(0, 4, (1000, 2))
    whole = joint_counts(a, b)
    monkeypatch.setattr(information, "ROWS", 77)
    assert np.array_equal(joint_counts(a, b), whole)
    assert whole.shape == (3, 2, 5, 4)
    assert (whole.sum((2, 3)) == 1000).all()


@pytest.mark.parametrize("bins", [2, 5, 20])
def test_bins_are_those_of_a_histogram(bins: int) -> None:
    codes = np.random.default_rng(0).normal(size=(500, 3))
    binned = discretize(codes, bins)
    for column, numbers in zip(codes.T, binned.T, strict=True):
        assert np.array_equal(np.bincount(numbers, minlength=bins), np.histogram(column, bins)[0])
    assert (discretize(np.full((5, 1), 3.0), bins) == 0).all()
    with pytest.raises(InputError, match="bins must be at least 2"):
        discretize(codes, 1)


def test_the_best_two() -> None:
    best, second = top_two(np.array([[1.0, 5.0], [3.0, 2.0], [2.0, 4.0]]), axis=0)
    assert best.tolist() == [3.0, 5.0]
    assert second.tolist() == [2.0, 4.0]
    assert top_two(np.array([[1.0, 5.0]]), axis=0)[1].tolist() == [0.0, 0.0]
