from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_selection import mutual_info_classif

from unweave.metrics.estimators.neighbours import neighbour_information


@pytest.mark.parametrize("neighbours", [1, 3, 10])
@pytest.mark.parametrize("signal", [0.0, 0.3, 3.0])
@pytest.mark.parametrize("classes", [2, 7])
def test_the_estimate_is_scikit_learns(neighbours: int, signal: float, classes: int) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, classes, 400)
    values = signal * labels + rng.normal(size=400)
    values /= values.std()
    expected = mutual_info_classif(
        values[:, None], labels, discrete_features=False, n_neighbors=neighbours, random_state=0
    )[0]
    assert neighbour_information(values, labels, neighbours=neighbours) == pytest.approx(expected, abs=1e-6)


def test_lonely_classes_are_left_out_and_nothing_is_nothing() -> None:
    rng = np.random.default_rng(0)
    values, labels = rng.normal(size=50), np.repeat([0, 1], 25)
    with_lonely = neighbour_information(np.append(values, 9.0), np.append(labels, 2), neighbours=3)
    assert with_lonely == pytest.approx(neighbour_information(values, labels, neighbours=3))
    assert neighbour_information(values, np.arange(50), neighbours=3) == 0.0


def test_a_known_value() -> None:
    """A class told by a value perfectly has its entropy as information."""
    labels = np.random.default_rng(0).integers(0, 4, 4000)
    values = labels + np.random.default_rng(1).uniform(0, 0.5, 4000)
    assert neighbour_information(values, labels, neighbours=10) == pytest.approx(np.log(4), abs=0.01)
