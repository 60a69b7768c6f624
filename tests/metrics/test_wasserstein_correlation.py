from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import sqrtm

from tests.metrics.samples import mixed, noise
from unweave.metrics import wasserstein_correlation


def test_the_definition_with_a_matrix_root() -> None:
    codes, _ = mixed(300)
    covariance = np.cov(codes.T)
    root = sqrtm(covariance @ np.diag(np.diag(covariance)))
    expected = 2 * np.trace(covariance) - 2 * np.trace(root).real
    result = wasserstein_correlation(codes)
    assert result.score == pytest.approx(expected)
    assert result.normalised == pytest.approx(expected / np.trace(covariance))
    assert wasserstein_correlation(codes * 10).normalised == pytest.approx(result.normalised)
    assert wasserstein_correlation(np.zeros((4, 2))).normalised == 0.0


def test_neither_dead_codes_nor_scale_change_the_share() -> None:
    codes = noise(60, 4) @ noise(4, 4, seed=3)
    share = wasserstein_correlation(codes).normalised
    for scale in (1e-90, 1e-3, 1e40):
        assert wasserstein_correlation(codes * scale).normalised == pytest.approx(share)
    assert wasserstein_correlation(np.repeat(codes[:1], 60, 0)).normalised == 0
