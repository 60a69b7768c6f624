from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from unweave import FactorData, Run
from unweave.errors import InputError
from unweave.figures.drawing.strips import to_bytes
from unweave.figures.two_latents import draw_two_latents, make_two_latents
from unweave.papers.impossibility import demonstrate, draw_impossibility


def test_every_combination_of_two_latents_is_decoded(gaussian: Run, data: FactorData) -> None:
    result = make_two_latents([gaussian], [data], torch.Generator().manual_seed(2), latents=(1, 3), steps=3)
    code = gaussian.encode(data.sample(1, torch.Generator().manual_seed(2)).images)[0]
    (grid,) = result.grids
    for row, down in enumerate((-2.0, 0.0, 2.0)):
        for column, across in enumerate((-2.0, 0.0, 2.0)):
            expected = code.clone()
            expected[1], expected[3] = down, across
            assert torch.equal(grid.images[row, column], to_bytes(gaussian.decode(expected[None]))[0])
    (panel,) = draw_two_latents(result).axes
    assert (panel.get_ylabel(), panel.get_xlabel()) == ("z1", "z3")
    assert [tick.get_text() for tick in panel.get_xticklabels()] == ["−2", "0", "2"]


def test_runs_stand_side_by_side_and_quantised_ones_show_each_level(
    gaussian: Run, quantised: Run, data: FactorData, generator: torch.Generator
) -> None:
    result = make_two_latents([gaussian, quantised], [data, data], generator)
    assert [grid.images.shape[:2] for grid in result.grids] == [(7, 7), (10, 10)]
    assert (result.grids[1].down, result.grids[1].across) == tuple(quantised.summary.order[:2])
    assert [panel.get_title() for panel in draw_two_latents(result).axes] == ["β-VAE", "QLAE"]


def test_the_values_of_many_levels_do_not_overlap(
    gaussian: Run, quantised: Run, data: FactorData, generator: torch.Generator
) -> None:
    figure = draw_two_latents(make_two_latents([gaussian, quantised, quantised], [data] * 3, generator))
    figure.draw_without_rendering()
    for panel in figure.axes:
        boxes = [tick.get_window_extent() for tick in panel.get_xticklabels()]
        assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_a_latent_that_does_not_exist_is_refused(gaussian: Run, data: FactorData, generator: torch.Generator) -> None:
    with pytest.raises(InputError, match="two different numbers from 0 to 3, got"):
        make_two_latents([gaussian], [data], generator, latents=(1, 4))


def test_both_representations_are_drawn_in_the_colours_of_the_first_factor() -> None:
    shown = demonstrate(3, samples=500)
    figure = draw_impossibility(shown)
    before, after = (panel.collections[0] for panel in figure.axes)
    np.testing.assert_array_equal(before.get_offsets(), shown.factors[:, :2])
    np.testing.assert_array_equal(after.get_offsets(), shown.entangled[:, :2])
    np.testing.assert_array_equal(np.asarray(after.get_array()), shown.factors[:, 0])
    scores = [float(panel.get_title().partition("MIG ")[2]) for panel in figure.axes]
    assert scores[0] > 0.95  # 1, less the bias of 500 samples
    assert scores[1] < 0.05
