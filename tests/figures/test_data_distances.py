from __future__ import annotations

import torch

import unweave
from unweave.data.distances import Matrices
from unweave.figures.data_distances import DataDistances, draw_data_distances, make_data_distances


def test_spacings_stand_beside_the_ground_truth(generator: torch.Generator) -> None:
    data = [unweave.load("xysquares", size=16, spacing=spacing) for spacing in (2, 1)]
    result = make_data_distances(data, generator, traversals=1)
    figure = draw_data_distances(result)
    truth, perceived = figure.axes[:2], figure.axes[2:]
    assert [panel.get_title().replace("\n", " ") for panel in truth] == [
        "XYSquares, spacing 2: x0",
        "XYSquares, spacing 1: x0",
    ]
    assert perceived[0].get_xlabel() == "constant"  # squares of two pixels at a spacing of two never overlap
    assert perceived[1].get_xlabel().startswith("r = ")
    for panels, name in ((truth, "ground_truth"), (perceived, "perceived")):
        for panel, (_, matrices) in zip(panels, result.sets, strict=True):
            shown = panel.images[0].get_array()
            assert shown is not None
            assert torch.equal(torch.tensor(shown), getattr(matrices[0], name))


def test_different_sets_each_have_their_ground_truth_and_their_scale() -> None:
    matrix = (torch.arange(5.0)[:, None] - torch.arange(5.0)).abs()
    shape, place = (Matrices(name, m, -m) for name, m in (("shape", matrix[:3, :3]), ("pos_x", matrix)))
    figure = draw_data_distances(DataDistances("mse", (("dSprites", (shape, place)), ("XYSquares", (place,)))))
    titles = [panel.get_title().replace("\n", " ") for panel in figure.axes[:2]]
    assert titles == ["dSprites: pos x", "XYSquares: pos x"]  # not of the class
    assert figure.axes[2].get_xlabel() == "r = −1.000"


def test_one_data_set_has_a_column_per_factor(generator: torch.Generator) -> None:
    data = unweave.load("xysquares", size=16)
    figure = draw_data_distances(make_data_distances([data], generator, traversals=1))
    assert len(figure.axes) == 12
    assert figure.get_suptitle() == "XYSquares, MSE"
