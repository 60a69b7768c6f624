from __future__ import annotations

import torch

import unweave
from unweave.data.distances import distance_matrices
from unweave.figures import draw_distance_matrices


def test_each_factor_has_a_column_and_says_whether_its_order_shows(generator: torch.Generator) -> None:
    matrices = distance_matrices(unweave.load("xysquares"), generator, traversals=1)
    figure = draw_distance_matrices(matrices, title="far apart")
    assert len(figure.axes) == 12
    assert [axes.get_title() for axes in figure.axes[:6]] == ["x0", "y0", "x1", "y1", "x2", "y2"]
    assert {axes.get_xlabel() for axes in figure.axes[6:]} == {"constant"}
    shown = figure.axes[6].images[0].get_array()
    assert shown is not None
    assert torch.equal(torch.tensor(shown), matrices[0].perceived)
    near = distance_matrices(unweave.load("xysquares", spacing=1), generator, traversals=1)
    assert draw_distance_matrices(near, title="").axes[6].get_xlabel().startswith("r = 1.00")
