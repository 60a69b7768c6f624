from __future__ import annotations

import numpy as np
import pytest
import torch

import unweave
from tests.training.small import pictures
from unweave import FactorData, Run
from unweave.errors import InputError
from unweave.figures.drawing.panels import PAGE, PAGE_HEIGHT
from unweave.figures.drawing.style import INACTIVE
from unweave.figures.mutual_information import (
    Information,
    InformationMaps,
    draw_mutual_information,
    information_map,
    make_mutual_information,
)
from unweave.latents import Summary
from unweave.metrics import mig
from unweave.streams import stream


def test_continuous_latents_are_binned_as_in_mig(gaussian: Run, data: FactorData) -> None:
    result = information_map(gaussian, data, samples=300, bins=3)
    drawn = gaussian.draw(300, stream(0, "follows"), data)  # each of the 72 images once
    assert drawn.factors is not None
    assert len(drawn.factors.unique(dim=0)) == len(drawn.codes) == 72
    metric = mig(drawn.codes, drawn.factors, bins=3)
    assert result.chance is not None
    for k, factor in enumerate(data.space.names):
        shares = np.bincount(drawn.factors[:, k]) / 72
        entropy = -(shares[shares > 0] * np.log(shares[shares > 0])).sum()
        assert result.factors[k] == factor
        exact = metric.mutual_information[list(result.latents), k] / entropy
        above = exact - result.chance[k]
        np.testing.assert_allclose(result.matrix[k], np.where(result.matrix[k] > 0, above, 0), atol=1e-9)
        assert (above[result.matrix[k] == 0] < 0.5).all()
    assert result.matrix.max() > 0.05


def test_inactive_latents_are_grey(
    gaussian: Run, data: FactorData, generator: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vars(gaussian), "summary", Summary([0] * 4, [1, 0.01, 1, 1], [3.0, 0.1, 2.0, 1.0], None))
    result = make_mutual_information([gaussian], [data], generator, samples=100)
    assert result.maps[0].latents == (0, 2, 3, 1)
    figure = draw_mutual_information(result)
    labels = figure.axes[0].get_xticklabels()
    assert [label.get_text() for label in labels] == ["z0", "z2", "z3", "z1"]
    assert [label.get_color() == INACTIVE for label in labels] == [False, False, False, True]
    assert figure.texts[-1].get_text() == "Names in grey are of inactive latents."
    assert len(result.records()) == 12


def test_images_without_factors_are_refused(gaussian: Run, generator: torch.Generator) -> None:
    with pytest.raises(InputError, match="needs data with known factors"):
        information_map(gaussian, unweave.load(pictures()))


def test_four_runs_with_many_factors_fit_on_a_printed_page() -> None:
    factors = tuple(f"factor {number}" for number in range(7))
    maps = [
        Information(f"run {run}", np.full((7, 10), 0.5), factors, tuple(range(10)), (False,) * 10) for run in range(4)
    ]
    drawn = draw_mutual_information(InformationMaps("Mutual information", tuple(maps)))
    assert drawn.get_figwidth() <= PAGE
    assert drawn.get_figheight() <= PAGE_HEIGHT + 1e-6
