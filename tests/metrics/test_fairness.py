from __future__ import annotations

import numpy as np
import pytest

from tests.metrics.samples import SPACE, linear
from unweave.metrics import fairness
from unweave.metrics.fairness import _variation


def test_total_variation_by_hand() -> None:
    """Half zeros at one value, all zeros at the other: shares ½ and 1 around ¾."""
    mean, greatest = _variation(np.array([[0, 0, 1, 1], [0, 0, 0, 0]]))
    assert mean == pytest.approx(0.25)
    assert greatest == pytest.approx(0.25)
    assert _variation(np.array([[0], [1], [2], [3]])) == (0.75, 0.75)


def test_separate_codes_are_fair_and_mixed_ones_are_not() -> None:
    fair = fairness(linear(np.eye(3)), SPACE, train=400, points=40)
    assert fair.score == pytest.approx(0, abs=1e-9)
    unfair = fairness(lambda p: (p[:, :1] + p[:, 1:2]).double(), SPACE, train=400, points=40)  # a and b in one sum
    assert unfair.score > 0.1
    assert np.isnan(np.diag(unfair.mean)).all()
    assert np.nanmax(unfair.maximum) >= np.nanmax(unfair.mean)
