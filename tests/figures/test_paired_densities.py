from __future__ import annotations

import numpy as np
import pandas
import pytest
from scipy.stats import norm

from unweave.errors import InputError
from unweave.figures.paired_densities import density, draw_paired_densities, make_paired_densities


def table() -> pandas.DataFrame:
    random = np.random.default_rng(0)
    return pandas.DataFrame(
        [
            {"data": data, "recipe": recipe, "seed": seed, "blur": blur, "mig": random.uniform()}
            for data in ("dsprites", "xysquares")
            for recipe, blur in (("beta_vae", np.nan), ("ada_gvae", 31))
            for seed in range(6)
        ]
    )


def test_the_density_is_a_sum_of_gaussians_of_scotts_width() -> None:
    scores, points = np.array([0.1, 0.15, 0.4, 0.8]), np.linspace(0, 1, 7)
    width = scores.std(ddof=1) * 4 ** (-1 / 5)
    expected = [np.mean([norm.pdf(point, score, width) for score in scores]) for point in points]
    np.testing.assert_allclose(density(scores, points), expected)
    assert density(np.array([0.3, 0.3]), points) is None


def test_halves_stand_on_their_side_of_each_group_with_quartiles() -> None:
    result = make_paired_densities(table())
    assert result.halves == ("beta_vae", "ada_gvae")
    (panel,) = draw_paired_densities(result).axes
    assert [label.get_text() for label in panel.get_xticklabels()] == ["dSprites", "XYSquares"]
    left, right = (np.asarray(line.get_xdata(), float) for line in panel.lines[:2])
    assert (left <= 0).all()
    assert (right >= 0).all()
    scores = result.frame[(result.frame["group"] == "dsprites") & (result.frame["half"] == "beta_vae")]["score"]
    heights = [float(bar.get_segments()[0][0, 1]) for bar in panel.collections if hasattr(bar, "get_segments")]
    assert heights[:3] == pytest.approx(np.quantile(scores, [0.25, 0.5, 0.75]).tolist())


def test_halves_can_be_a_setting_that_some_runs_lack() -> None:
    result = make_paired_densities(table(), halves="blur", groups="data")
    assert result.halves == ("blur none", "blur 31.0")
    with pytest.raises(InputError, match="must have two values, one for each half, got 6"):
        make_paired_densities(table(), halves="seed")
