from __future__ import annotations

import numpy as np
import pytest

from tests.metrics.samples import SPACE, linear
from unweave import FactorSpace
from unweave.metrics import irs
from unweave.metrics.scoring.chosen_points import torch_generator


def test_against_loops_over_latents_factors_and_values() -> None:
    represent = linear(np.random.default_rng(0).normal(size=(3, 4)))
    factors = SPACE.sample(2000, torch_generator(0))
    codes, values = represent(factors), factors.numpy()
    greatest = [max(abs(v - codes[:, j].mean()) for v in codes[:, j]) for j in range(4)]
    expected = np.zeros((4, 3))
    for j in range(4):
        for k, size in enumerate(SPACE.sizes):
            strays = []
            for value in range(size):
                group = codes[values[:, k] == value, j]
                strays.append(np.quantile(np.abs(group - group.mean()), 0.99))
            expected[j, k] = 1 - np.mean(strays) / greatest[j]
    result = irs(represent, SPACE, points=2000)
    np.testing.assert_allclose(result.robustness, expected)
    assert result.parents.tolist() == expected.argmax(1).tolist()
    assert result.score == pytest.approx(np.average(expected.max(1), weights=greatest))


def test_dead_latents_are_left_out() -> None:
    alive = irs(linear(np.eye(3)), SPACE)
    assert alive.score == pytest.approx(1)
    with_dead = irs(linear(np.eye(3, 5)), SPACE)
    assert with_dead.score == pytest.approx(1)
    assert np.isnan(with_dead.per_latent[3:]).all()
    assert irs(lambda p: np.full((len(p), 2), 0.1), SPACE).score == 0


def test_large_factors_are_binned_on_request() -> None:
    """disentanglement_lib merges the values of a factor of 40 two by two: a perfect code then strays within a bin."""
    space = FactorSpace.of(angle=40, x=3)
    assert irs(lambda p: p.double(), space).score == pytest.approx(1)
    assert irs(lambda p: p.double(), space, bins=20).score < 0.99
