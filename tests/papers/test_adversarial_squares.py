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
                    "beta": 0.001,
                    "latents": 9,
                    "steps": 100,
                }
                score = value + 0.001 * seed
                rows.append(row | {"recipe": recipe, "seed": seed, "mig": score, "dci.disentanglement": score})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(("near", "blurred", "shown"), [(0.3, 0.3, 12), (0.3, 0.02, 8), (0.02, 0.02, 4)])
def test_adversarial_squares_needs_every_seed_above(near: float, blurred: float, shown: int) -> None:
    found = verdicts(FINDINGS["adversarial-squares"].answer(squares_table(near, blurred)))
    assert len(found) == 12  # four of which say that the full spacing fails
    assert sum(verdict == "shown" for verdict in found.values()) == shown


def test_losses_are_compared_among_runs_with_the_same_settings_at_the_default_spacing() -> None:
    """As in the published sweeps: figure 11 has other β and latents than figure 9, and does not set the spacing."""
    spacings = squares_table(near=0.3, blurred=0.0)
    spacings = spacings[spacings["blur"].isna()].replace({"data.spacing": {4: 8}})
    losses = squares_table(near=0.0, blurred=0.4)
    losses = losses[losses["data.spacing"] == 4].assign(beta=0.0316, latents=25)
    losses["data.spacing"] = np.nan
    found = verdicts(FINDINGS["adversarial-squares"].answer(pd.concat([spacings, losses])))
    assert set(found.values()) == {"shown"}
