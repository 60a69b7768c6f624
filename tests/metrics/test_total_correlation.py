from __future__ import annotations

import math

import numpy as np
import pytest

from tests.metrics.samples import noise
from unweave.errors import InputError
from unweave.metrics import total_correlation


def test_two_correlated_latents_by_formula() -> None:
    """For correlation r it is −½ log(1 − r²), whatever the scales."""
    pair = noise(400, 2)
    pair[:, 1] = 3 * pair[:, 0] + pair[:, 1]
    r = np.corrcoef(pair[:, 0], pair[:, 1])[0, 1]
    assert total_correlation(pair * [1e-4, 1e5]).score == pytest.approx(-0.5 * math.log(1 - r**2))


def test_dead_and_dependent_latents_are_defined() -> None:
    codes = noise(200, 2)
    alone = total_correlation(codes).score
    assert total_correlation(np.hstack([codes, np.ones((200, 2))])).score == pytest.approx(alone)
    assert total_correlation(np.hstack([codes, codes])).score == math.inf
    assert total_correlation(np.zeros((5, 3))).score == 0.0


def test_samples_of_the_posterior_are_less_dependent_than_means() -> None:
    means = np.repeat(noise(5000, 1), 2, axis=1)
    means[:, 1] += 0.1 * noise(5000, 1, seed=3)[:, 0]
    sampled = total_correlation(means, logvar=np.zeros_like(means), seed=2)
    assert sampled.score == pytest.approx(-0.5 * math.log(1 - 0.25), abs=0.03)  # variance 1 added to each
    assert total_correlation(means).score > 2
    with pytest.raises(InputError, match=r"shape \(5000, 2\) and logvar"):
        total_correlation(means, logvar=means[:, :1])
