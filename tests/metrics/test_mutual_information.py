from __future__ import annotations

import numpy as np
import pytest

from unweave.metrics import mutual_information

GRID = np.array(np.meshgrid(range(4), range(4), indexing="ij")).reshape(2, -1).T.astype(float)


def test_known_pairs() -> None:
    assert mutual_information(GRID).score == pytest.approx(0)
    twice = mutual_information(GRID[:, [0, 0, 1]])
    assert twice.score == pytest.approx(2 * np.log(4) / 6)  # of six ordered pairs two are equal
    np.testing.assert_allclose(np.diag(twice.table), np.log(4))
    assert mutual_information(GRID[:, :1]).score == 0.0
