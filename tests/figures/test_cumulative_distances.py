from __future__ import annotations

import numpy as np
import torch

import unweave
from unweave.data.distances import factor_importance
from unweave.figures.cumulative_distances import draw_cumulative_distances, make_cumulative_distances


def test_proportions_of_constant_distances_are_a_step() -> None:
    data = unweave.load("xysquares", size=16)  # squares of 2 × 2 pixels, one channel each
    result = make_cumulative_distances([data], torch.Generator().manual_seed(0), pairs=50)
    ((name, found),) = result.sets
    assert name == "XYSquares"
    moved = 2 * 4 / (3 * 16 * 16)  # two squares of four pixels differ by one, in one of three channels
    for factor in data.space.names:
        np.testing.assert_allclose(found[factor], moved, rtol=1e-5)
    means = {row.factor: row.mean for row in factor_importance(data, torch.Generator().manual_seed(0), pairs=50)}
    assert means == {factor: float(values.mean()) for factor, values in found.items()}
    (panel,) = draw_cumulative_distances(result).axes
    curves = {line.get_label(): line for line in panel.lines}
    assert set(curves) == {*data.space.names, "random"}
    x, y = (np.asarray(side, float) for side in curves["random"].get_data())
    np.testing.assert_array_equal(x, np.sort(x))
    np.testing.assert_allclose(y, np.arange(1, 51) / 50)
