"""Spacing and loss on XYSquares."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.papers.judging import verdicts
from unweave.papers import FINDINGS


def squares_table(near: float, blurred: float) -> pd.DataFrame:
    rows = []
    for spacing, blur, value in ((4, np.nan, 0.02), (1, np.nan, near), (4, 15.0, blurred)):
        for recipe in ("beta_vae", "ada_gvae"):
            for seed in range(3):
                row = {
                    "state": "finished",
                    "data": "xysquares",
                    "data.spacing": spacing,
                    "blur": blur,
                    "seconds": 1.0,
                    "psnr": 20.0,
                }
                score = value + 0.001 * seed
                rows.append(row | {"recipe": recipe, "seed": seed, "mig": score, "dci.disentanglement": score})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(("near", "blurred", "shown"), [(0.3, 0.3, 8), (0.3, 0.02, 4), (0.02, 0.02, 0)])
def test_adversarial_squares_needs_every_seed_above(near: float, blurred: float, shown: int) -> None:
    found = verdicts(FINDINGS["adversarial-squares"].answer(squares_table(near, blurred)))
    assert len(found) == 8
    assert sum(verdict == "shown" for verdict in found.values()) == shown
