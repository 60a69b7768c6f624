from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from unweave import FactorData, Run
from unweave.figures import interventions, make_traversals
from unweave.figures.interventions import _across, _telling, draw_interventions, make_interventions
from unweave.figures.mutual_information import Information, information_map
from unweave.latents import Summary


def test_latents_of_images_and_of_the_heat_map_are_the_same(quantised: Run, data: FactorData) -> None:
    generator = torch.Generator().manual_seed(0)
    result = make_interventions(quantised, data, generator, starts=2, inactive="mark", samples=200)
    assert result.information.latents == result.traversals.latents
    expected = information_map(quantised, data, samples=200)
    columns = [expected.latents.index(latent) for latent in result.information.latents]
    np.testing.assert_allclose(result.information.matrix, expected.matrix[:, columns])
    figure = draw_interventions(result)
    images, maps = figure.axes[0:-1:2], figure.axes[1:-1:2]
    assert [panel.get_yticklabels()[0].get_text() for panel in images] == [
        f"z{latent}" for latent in result.traversals.latents
    ]
    shown = np.concatenate([panel.images[0].get_array() for panel in maps])
    np.testing.assert_allclose(shown, result.information.matrix.T)


def test_latents_that_tell_most_about_the_same_factor_stand_together(
    gaussian: Run, data: FactorData, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = np.array([[0.1, 0.0, 0.7, 0.2], [0.2, 0.6, 0.1, 0.1]])  # (factors, latents)
    fixed = Information("", told, ("floor_hue", "b"), (0, 1, 2, 3), (False,) * 4)
    monkeypatch.setattr(interventions, "information_map", lambda *_, **__: fixed)
    result = make_interventions(gaussian, data, torch.Generator(), inactive="show", samples=200)
    assert result.traversals.latents == result.information.latents == (2, 3, 1, 0)
    np.testing.assert_array_equal(result.information.matrix, told[:, [2, 3, 1, 0]])
    headers = draw_interventions(result).axes[1].get_xticklabels()
    assert [header.get_text() for header in headers] == ["floor hue", "b"]  # as words
    plain = make_traversals(gaussian, data, torch.Generator(), steps=5, inactive="show", order="spread")
    values = dict(zip(plain.latents, plain.values, strict=True))
    assert result.traversals.values[::2] == tuple(values[latent] for latent in (2, 3, 1, 0))


def test_images_take_most_of_the_page_and_keep_their_proportions(
    quantised: Run, gaussian: Run, data: FactorData
) -> None:
    for run in (quantised, gaussian):
        figure = draw_interventions(make_interventions(run, data, torch.Generator(), samples=200, inactive="mark"))
        figure.draw_without_rendering()
        for images, heat in zip(figure.axes[0:-1:2], figure.axes[1:-1:2], strict=True):
            shown = images.images[0].get_array()
            assert shown is not None
            box, beside = images.get_window_extent(), heat.get_window_extent()
            assert box.height / box.width == pytest.approx(shown.shape[0] / shown.shape[1], rel=0.02)
            assert beside.intervaly == pytest.approx(box.intervaly)
            assert box.width > 2 * beside.width


def test_start_images_have_edges_and_differ() -> None:
    images = torch.zeros(4, 1, 8, 8, dtype=torch.uint8)
    images[1, :, :4] = 200  # one edge
    images[2, :, :4] = 190
    images[3, :, :, 4:] = 150  # another edge, weaker
    assert torch.equal(_telling(images, 2), images[[1, 3]])


@pytest.mark.parametrize(("starts", "steps", "latents", "expected"), [(2, 5, 12, 2), (3, 11, 4, 1), (1, 5, 3, 1)])
def test_start_images_stand_side_by_side_where_images_are_larger_so(
    starts: int, steps: int, latents: int, expected: int
) -> None:
    assert _across(starts, steps, latents, 5.0, 8.0) == expected


def test_dropped_latents_leave_the_heat_map_too(
    gaussian: Run, data: FactorData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vars(gaussian), "summary", Summary([0] * 4, [1, 0.05, 1, 1], [3.0, 2.0, 1.0, 0.5], None))
    result = make_interventions(gaussian, data, torch.Generator().manual_seed(0), starts=1, samples=200)
    assert result.traversals.latents == result.information.latents
    assert sorted(result.traversals.latents) == [0, 2, 3]
    whole = information_map(gaussian, data, samples=200)
    assert whole.latents == (0, 1, 2, 3)
    np.testing.assert_allclose(result.information.matrix, whole.matrix[:, list(result.traversals.latents)])


def test_thirty_values_over_the_range_and_the_active_latents_of_infomec(
    quantised: Run, data: FactorData, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = torch.zeros(200, 3)
    codes[:40, 0] = 1.0  # a fifth of images: varies, but its quartiles coincide
    codes[:100, 1] = 1.0
    codes[:100, 2] = 0.05
    monkeypatch.setitem(vars(quantised), "summary", Summary.of_codes(codes, discrete=True))
    settings: dict[str, Any] = {"steps": 30, "over": "quantile", "samples": 200, "starts": 1}
    result = make_interventions(quantised, data, torch.Generator().manual_seed(0), **settings)
    assert result.traversals.latents == (1,)
    low, high = quantised.summary.range
    assert result.traversals.values[0] == pytest.approx(np.linspace(float(low[1]), float(high[1]), 30), abs=1e-6)
