from __future__ import annotations

import numpy as np
import pytest

from unweave.metrics import jemmig

GRID = np.array(np.meshgrid(range(4), range(4), indexing="ij")).reshape(2, -1).T


def test_by_hand() -> None:
    """One latent a factor: H(f, z) = I = log 4, so 1 − 0 / …; one for both: H(f, z) = log 16, I₁ = log 4."""
    assert jemmig(GRID.astype(float), GRID).score == pytest.approx(1)
    both = (GRID @ [4, 1])[:, None].astype(float)
    expected = 1 - (np.log(16) - np.log(4)) / (np.log(4) + np.log(16))
    assert jemmig(both, GRID, bins=16).score == pytest.approx(expected)
    assert jemmig(np.zeros((16, 2)), GRID).score == 0  # dead latents hold nothing else, and nothing
    assert jemmig(np.hstack([GRID, GRID]), GRID).score == pytest.approx(1 - np.log(4) / (np.log(4) + np.log(20)))
