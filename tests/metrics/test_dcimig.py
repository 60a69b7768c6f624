from __future__ import annotations

import numpy as np
import pytest

from unweave.metrics import dcimig

GRID = np.array(np.meshgrid(range(4), range(2), indexing="ij")).reshape(2, -1).T


def test_by_hand() -> None:
    assert dcimig(GRID.astype(float), GRID).score == pytest.approx(1)
    assert dcimig(np.hstack([GRID, GRID]), GRID).score == pytest.approx(1)  # it sees the best latent only
    both = (GRID @ [2, 1])[:, None].astype(float)  # log 4 of one, log 2 of the other: a gap of log 2 of log 8
    assert dcimig(both, GRID).score == pytest.approx(np.log(2) / np.log(8))
    assert dcimig(GRID[:, 1:].astype(float), GRID).score == pytest.approx(np.log(2) / np.log(8))
