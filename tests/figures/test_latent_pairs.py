from __future__ import annotations

import torch

from unweave import FactorData, Run
from unweave.figures.latent_pairs import draw_latent_pairs, make_latent_pairs


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
