from __future__ import annotations

import numpy as np
import pytest

from unweave.metrics import dcimig, jemmig, mig

GRID = np.array(np.meshgrid(range(4), range(3), range(2), indexing="ij")).reshape(3, -1).T  # (24, 3), each once
SQUARE = np.array(np.meshgrid(range(4), range(4), indexing="ij")).reshape(2, -1).T
OBLONG = np.array(np.meshgrid(range(4), range(2), indexing="ij")).reshape(2, -1).T


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        (GRID, 1.0),  # one latent a factor
        (np.zeros_like(GRID), 0.0),  # a collapsed encoder
        (np.hstack([GRID, GRID]), 0.0),  # every factor twice
        (-3.0 * GRID[:, ::-1] + 5.0, 1.0),  # order, sign and scale do not matter
        (GRID[:, :1] * 6 + GRID[:, 1:2] * 2 + GRID[:, 2:], 1.0),  # one latent for everything: MIG cannot see it
    ],
)
def test_known_codes(codes: np.ndarray, expected: float) -> None:
    result = mig(codes.astype(float), GRID, bins=24)
    np.testing.assert_allclose(result.per_factor, expected, atol=1e-12)
    assert result.score == pytest.approx(expected)


def test_a_constant_factor_is_left_out_of_the_mean() -> None:
    labels = np.hstack([GRID, np.ones((24, 1), int)])
    result = mig(GRID.astype(float), labels)
    assert result.score == 1.0
    assert np.isnan(result.per_factor[3])


def test_half_a_bit() -> None:
    """A latent that tells two of four classes has half the entropy; the runner-up tells one bit of another kind."""
    factor = np.arange(4).repeat(10)
    halves, parity = factor // 2, factor % 2
    assert mig(halves[:, None].astype(float), factor).score == pytest.approx(0.5)
    assert mig(np.column_stack([halves, parity]).astype(float), factor).score == pytest.approx(0)


def test_jemmig_by_hand() -> None:
    """One latent a factor: H(f, z) = I = log 4, so 1 − 0 / …; one for both: H(f, z) = log 16, I₁ = log 4."""
    assert jemmig(SQUARE.astype(float), SQUARE).score == pytest.approx(1)
    both = (SQUARE @ [4, 1])[:, None].astype(float)
    expected = 1 - (np.log(16) - np.log(4)) / (np.log(4) + np.log(16))
    assert jemmig(both, SQUARE, bins=16).score == pytest.approx(expected)
    assert jemmig(np.zeros((16, 2)), SQUARE).score == 0  # dead latents hold nothing else, and nothing
    assert jemmig(np.hstack([SQUARE, SQUARE]), SQUARE).score == pytest.approx(1 - np.log(4) / (np.log(4) + np.log(20)))


def test_dcimig_by_hand() -> None:
    assert dcimig(OBLONG.astype(float), OBLONG).score == pytest.approx(1)
    assert dcimig(np.hstack([OBLONG, OBLONG]), OBLONG).score == pytest.approx(1)  # it sees the best latent only
    both = (OBLONG @ [2, 1])[:, None].astype(float)  # log 4 of one, log 2 of the other: a gap of log 2 of log 8
    assert dcimig(both, OBLONG).score == pytest.approx(np.log(2) / np.log(8))
    assert dcimig(OBLONG[:, 1:].astype(float), OBLONG).score == pytest.approx(np.log(2) / np.log(8))
