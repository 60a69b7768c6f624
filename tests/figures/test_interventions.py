from __future__ import annotations

import numpy as np
import pytest
import torch

from unweave import FactorData, Run
from unweave.figures.interventions import draw_interventions, make_interventions
from unweave.figures.mutual_information import information_map
from unweave.latents import Summary


def test_latents_of_images_and_of_the_heat_map_are_the_same(quantised: Run, data: FactorData) -> None:
    generator = torch.Generator().manual_seed(0)
    result = make_interventions(quantised, data, generator, starts=2, inactive="mark", samples=200)
    assert result.information.latents == result.traversals.latents
    again = torch.Generator().manual_seed(0)
    data.sample(2, again)
    expected = information_map(quantised, data, again, samples=200)
    np.testing.assert_allclose(result.information.matrix, expected.matrix)
    figure = draw_interventions(result)
    left, right = figure.axes[:2]
    assert [tick.get_text().split()[0] for tick in left.get_yticklabels()] == [
        f"z{latent}" for latent in result.traversals.latents
    ]
    shown = right.images[0].get_array()
    assert shown is not None
    np.testing.assert_allclose(shown, expected.matrix.T)


def test_images_keep_their_proportions(quantised: Run, gaussian: Run, data: FactorData) -> None:
    for run in (quantised, gaussian):
        figure = draw_interventions(make_interventions(run, data, torch.Generator(), samples=200, inactive="mark"))
        figure.draw_without_rendering()
        images, heat = figure.axes[:2]
        shown = images.images[0].get_array()
        assert shown is not None
        box = images.get_window_extent()
        assert box.height / box.width == pytest.approx(shown.shape[0] / shown.shape[1], rel=0.02)
        assert heat.get_window_extent().intervaly == pytest.approx(box.intervaly)  # rows stand beside each other


def test_dropped_latents_leave_the_heat_map_too(
    gaussian: Run, data: FactorData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vars(gaussian), "summary", Summary([0] * 4, [1, 0.05, 1, 1], [3.0, 2.0, 1.0, 0.5], None))
    result = make_interventions(gaussian, data, torch.Generator().manual_seed(0), starts=1, samples=200)
    assert result.traversals.latents == result.information.latents == (0, 2, 3)
    again = torch.Generator().manual_seed(0)
    data.sample(1, again)
    whole = information_map(gaussian, data, again, samples=200)
    assert whole.latents == (0, 1, 2, 3)
    np.testing.assert_allclose(result.information.matrix, whole.matrix[:, [0, 2, 3]])
