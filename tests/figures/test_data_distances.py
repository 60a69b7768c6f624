from __future__ import annotations

import torch

import unweave
from unweave.figures.data_distances import draw_data_distances, make_data_distances


def test_spacings_stand_beside_the_ground_truth(generator: torch.Generator) -> None:
    data = [unweave.load("xysquares", size=16, spacing=spacing) for spacing in (2, 1)]
    result = make_data_distances(data, generator, traversals=1)
    figure = draw_data_distances(result)
    assert [panel.get_title() for panel in figure.axes] == [
        "ground truth\nx0",
        "XYSquares\nspacing 2",
        "XYSquares\nspacing 1",
    ]
    assert figure.axes[1].get_xlabel() == "constant"  # squares of two pixels at a spacing of two never overlap
    assert figure.axes[2].get_xlabel().startswith("r = ")
    shown = figure.axes[2].images[0].get_array()
    assert shown is not None
    assert torch.equal(torch.tensor(shown), result.sets[1][1][0].perceived)


def test_one_data_set_has_a_column_per_factor(generator: torch.Generator) -> None:
    data = unweave.load("xysquares", size=16)
    figure = draw_data_distances(make_data_distances([data], generator, traversals=1))
    assert len(figure.axes) == 12
    assert figure.get_suptitle() == "XYSquares, mse"
