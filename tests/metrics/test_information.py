from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import entropy
from sklearn.metrics import mutual_info_score

from unweave.errors import InputError
from unweave.metrics.estimators import information
from unweave.metrics.estimators.information import (
    classes_of,
    discretize,
    entropies,
    information_table,
    joint_entropies,
    normalised_information,
    top_two,
)

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
    whole = joint_entropies(a, b)
    monkeypatch.setattr(information, "PAIRS", 77)
    monkeypatch.setattr(information, "COUNTS", 50)  # one or two columns of a at a time
    assert np.array_equal(joint_entropies(a, b), whole)
    for i in range(3):
        for j in range(2):
            counts = np.histogram2d(a[:, i], b[:, j], bins=(range(6), range(5)))[0]
            assert whole[i, j] == pytest.approx(entropy(counts.reshape(-1)))


def test_a_factor_with_a_class_a_row_does_not_swell_the_others() -> None:
    n = 20_000
    a = np.random.default_rng(0).integers(0, 20, (n, 10))
    b = np.column_stack([np.arange(n), *[np.arange(n) % 3] * 4])
    tracemalloc.start()
    information_table(a, b)
    assert tracemalloc.get_traced_memory()[1] < 250e6  # 10 · 20 · 20,012 counts, their logarithms and products
    tracemalloc.stop()


@pytest.mark.parametrize("bins", [2, 5, 20])
def test_bins_are_those_of_a_histogram(bins: int) -> None:
    codes = np.random.default_rng(0).normal(size=(500, 3))
    binned = discretize(codes, bins)
    for column, numbers in zip(codes.T, binned.T, strict=True):
        assert np.array_equal(np.bincount(numbers, minlength=bins), np.histogram(column, bins)[0])
    assert (discretize(np.full((5, 1), 3.0), bins) == 0).all()
    with pytest.raises(InputError, match="bins must be a whole number of at least 2 and of at most 1000"):
        discretize(codes, 1)


def test_the_best_two() -> None:
    best, second = top_two(np.array([[1.0, 5.0], [3.0, 2.0], [2.0, 4.0]]), axis=0)
    assert best.tolist() == [3.0, 5.0]
    assert second.tolist() == [2.0, 4.0]
    assert top_two(np.array([[1.0, 5.0]]), axis=0)[1].tolist() == [0.0, 0.0]


def test_normalised_information_is_scikit_learns_over_the_entropy() -> None:
    factors = np.random.default_rng(0).integers(0, 4, (500, 2))
    codes = np.stack([factors[:, 0] * 0.7, factors[:, 1] // 2, np.zeros(500)], axis=1)
    table = normalised_information(classes_of(codes), factors)
    for k in range(2):
        own = mutual_info_score(factors[:, k], factors[:, k])
        for j in range(3):
            levels = np.unique(codes[:, j], return_inverse=True)[1]
            assert table[j, k] == pytest.approx(mutual_info_score(levels, factors[:, k]) / own, abs=1e-9)


GRID = np.stack(np.meshgrid(np.arange(4), np.arange(3), [0], indexing="ij"), -1).reshape(-1, 3).repeat(50, 0)


@pytest.mark.parametrize("discrete", [True, False])
def test_normalised_information_of_known_codes(discrete: bool) -> None:
    codes = np.stack([GRID[:, 0] * 2.0, GRID[:, 1] - 5.0, np.zeros(len(GRID)), GRID[:, 0] // 2 * 1.0], axis=1)
    expected = [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0],
        [0.5, 0.0, 0.0],
    ]  # half of two bits; the last factor is constant
    binned = classes_of(codes) if discrete else discretize(codes, 20)
    np.testing.assert_allclose(normalised_information(binned, GRID), expected, atol=1e-9)


def test_levels_that_share_a_bin_are_kept_apart() -> None:
    levels = np.array([0.0, 0.001, 0.002, 1.0])[GRID[:, 0]][:, None]
    assert normalised_information(classes_of(levels), GRID)[0, 0] == pytest.approx(1.0)
    assert normalised_information(discretize(levels, 20), GRID)[0, 0] < 0.5
