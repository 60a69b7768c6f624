from __future__ import annotations

import numpy as np
import pytest
import torch

from unweave import FactorData, Run
from unweave.figures.latent_marginals import draw_latent_marginals, level_shares, make_latent_marginals
from unweave.figures.latent_pairs import draw_latent_pairs, make_latent_pairs


def test_shares_of_levels_are_counted() -> None:
    levels = np.array([-1.0, 0.0, 2.0])
    np.testing.assert_allclose(level_shares(np.array([2.0, 2.0, -1.0, 2.0]), levels), [0.25, 0.0, 0.75])


def test_a_gaussian_latent_has_its_prior_and_a_quantised_one_a_bar_per_level(
    gaussian: Run, quantised: Run, data: FactorData, generator: torch.Generator
) -> None:
    result = make_latent_marginals(gaussian, data, generator, samples=200, most=3)
    figure = draw_latent_marginals(result)
    assert [len(panel.lines) for panel in figure.axes] == [1, 1, 1]
    x, y = (np.asarray(side, float) for side in figure.axes[0].lines[0].get_data())
    np.testing.assert_allclose(y, np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi))
    bars = make_latent_marginals(quantised, data, generator, samples=200)
    panel = draw_latent_marginals(bars).axes[0]
    heights = [bar.get_height() for bar in panel.patches]  # type: ignore[attr-defined]
    assert len(heights) == 10
    assert sum(heights) == pytest.approx(1.0)


def test_pairs_fill_the_lower_triangle(
    gaussian: Run, quantised: Run, data: FactorData, generator: torch.Generator
) -> None:
    figure = draw_latent_pairs(make_latent_pairs(gaussian, data, generator, samples=200, most=3))
    assert [panel.axison for panel in figure.axes] == [True, False, False, True, True, False, True, True, True]
    counted = figure.axes[3].collections[0].get_array()
    assert counted is not None
    assert counted.sum() == data.num_images < 200  # no image twice
    levels = draw_latent_pairs(make_latent_pairs(quantised, data, generator, samples=200, most=2))
    shown = levels.axes[2].images[0].get_array()
    assert shown is not None
    assert shown.shape == (10, 10)
    assert shown.sum() == data.num_images
