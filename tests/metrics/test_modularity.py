from __future__ import annotations

import numpy as np
import pytest

from unweave.metrics import modularity

GRID = np.array(np.meshgrid(range(4), range(4), range(4), indexing="ij")).reshape(3, -1).T


def test_known_codes() -> None:
    assert modularity(GRID.astype(float), GRID).score == pytest.approx(1)
    everything = (GRID @ [16, 4, 1])[:, None].astype(float)
    assert modularity(everything, GRID, bins=64).score == pytest.approx(0)
    assert modularity(np.hstack([GRID, np.zeros((64, 3))]), GRID).score == pytest.approx(0.5)


def test_a_latent_of_two_factors_by_hand() -> None:
    """It knows log 4 of one factor, log 2 of another, nothing of the third: 1 − (1/2)² / 2."""
    latent = (GRID[:, :1] * 2 + GRID[:, 1:2] // 2).astype(float)
    result = modularity(latent, GRID, bins=8)
    assert result.per_latent[0] == pytest.approx(1 - 0.25 / 2)
    np.testing.assert_allclose(result.mutual_information[0], [np.log(4), np.log(2), 0], atol=1e-12)


def test_constant_factors_do_not_count_as_factors() -> None:
    latent = (GRID[:, :1] * 4 + GRID[:, 1:2]).astype(float)
    labels = np.hstack([GRID, np.zeros((64, 5), int)])
    assert modularity(latent, labels).score == pytest.approx(modularity(latent, GRID).score)
