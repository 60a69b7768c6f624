from __future__ import annotations

import math

import numpy as np
import pytest

from tests.metrics.samples import mixed, noise
from unweave.errors import InputError
from unweave.metrics import mutual_information, total_correlation, total_correlation_sampled
from unweave.metrics.scoring.inputs import Floats

GRID = np.array(np.meshgrid(range(4), range(4), indexing="ij")).reshape(2, -1).T.astype(float)


def by_determinant(codes: Floats, ridge: float) -> float:
    """The definition, by numpy's log-determinant."""
    covariance = np.cov(codes.T) + ridge * np.eye(codes.shape[1])
    return float(0.5 * (np.log(np.diag(covariance)).sum() - np.linalg.slogdet(covariance)[1]))


def test_two_correlated_latents_by_formula() -> None:
    """For correlation r it is −½ log(1 − r²), whatever the scales."""
    pair = noise(400, 2)
    pair[:, 1] = 3 * pair[:, 0] + pair[:, 1]
    r = np.corrcoef(pair[:, 0], pair[:, 1])[0, 1]
    assert total_correlation(pair * [1e-4, 1e5], ridge=0).score == pytest.approx(-0.5 * math.log(1 - r**2))


@pytest.mark.parametrize("scale", [1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("ridge", [1e-5, 1e-2, 0.0])
def test_the_ridge_is_added_to_the_diagonal(scale: float, ridge: float) -> None:
    codes = scale * mixed(500)[0]
    assert total_correlation(codes, ridge=ridge).score == pytest.approx(by_determinant(codes, ridge), abs=1e-9)


def test_collapsed_latents_hardly_count_in_the_papers_form() -> None:
    """Five latents of deviation 0.001 that share all but a tenth of it: −½ (4 log(1 − r) + log(1 + 4 r))."""
    collapsed = 1e-3 * (noise(10_000, 1) + 0.1 * noise(10_000, 5, seed=2))
    for ridge, expected in ((1e-5, 0.0355), (0.0, 8.43)):
        r = 1e-6 / (1.01e-6 + ridge)
        assert -0.5 * (4 * math.log(1 - r) + math.log(1 + 4 * r)) == pytest.approx(expected, rel=0.005)
        assert total_correlation(collapsed, ridge=ridge).score == pytest.approx(expected, rel=0.05)
    assert total_correlation(collapsed).score == total_correlation(collapsed, ridge=1e-5).score


def test_constant_and_dependent_latents_are_defined() -> None:
    codes = noise(200, 2)
    alone = total_correlation(codes).score
    assert total_correlation(np.hstack([codes, np.ones((200, 2))])).score == pytest.approx(alone)
    assert total_correlation(np.hstack([codes, codes]), ridge=0).score == math.inf
    assert total_correlation(np.hstack([codes, codes])).score == pytest.approx(
        by_determinant(np.hstack([codes, codes]), 1e-5)
    )
    for ridge in (1e-5, 0.0):
        assert total_correlation(np.zeros((5, 3)), ridge=ridge).score == 0.0
    with pytest.raises(InputError, match="ridge must be a number of at least 0, got -1"):
        total_correlation(codes, ridge=-1)


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1e12, 1e60])
def test_without_a_ridge_the_unit_does_not_matter(scale: float) -> None:
    codes, _ = mixed(300)
    expected = total_correlation(codes, ridge=0).score
    assert total_correlation(codes * scale, ridge=0).score == pytest.approx(expected)
    still = np.full((300, 1), 123456789.123)
    assert total_correlation(np.hstack([codes, still, still]), ridge=0).score == pytest.approx(expected)
    assert math.isfinite(total_correlation(codes * scale).score)


def test_samples_of_the_posterior_are_less_dependent_than_means() -> None:
    means = np.repeat(noise(5000, 1), 2, axis=1)
    means[:, 1] += 0.1 * noise(5000, 1, seed=3)[:, 0]
    sampled = total_correlation_sampled(means, np.zeros_like(means), seed=2)
    assert sampled.score == pytest.approx(-0.5 * math.log(1 - 0.25), abs=0.03)  # variance 1 added to each
    assert sampled.score == total_correlation(means, logvar=np.zeros_like(means), seed=2).score
    assert total_correlation(means).score > 2
    with pytest.raises(InputError, match=r"shape \(5000, 2\) but logvar"):
        total_correlation(means, logvar=means[:, :1])


def test_mutual_information_of_known_pairs() -> None:
    assert mutual_information(GRID).score == pytest.approx(0)
    twice = mutual_information(GRID[:, [0, 0, 1]])
    assert twice.score == pytest.approx(2 * np.log(4) / 6)  # of six ordered pairs two are equal
    np.testing.assert_allclose(np.diag(twice.table), np.log(4))
    assert mutual_information(GRID[:, :1]).score == 0.0
