from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from unweave import FactorData, Run
from unweave.errors import InputError
from unweave.figures.curvature import Curvatures, LayerCurvature, draw_curvature, make_curvature


def test_a_linear_decoder_does_not_bend(linear: Run, data: FactorData, generator: torch.Generator) -> None:
    (entry,) = make_curvature([linear], [data], generator, points=4).runs
    assert entry.layers[-1] == "image"
    assert entry.values.max() < 1e-4


def test_an_exponential_bends_by_its_rate(
    linear: Run, data: FactorData, generator: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The closed form of cosh and sinh: exp(a z) has second difference 2 (cosh(h) − 1) and first difference sinh(h)."""
    monkeypatch.setattr(linear.model, "decode", lambda z: (0.3 * z).exp()[:, :, None, None])
    (entry,) = make_curvature([linear], [data], generator, points=4, step=0.5).runs
    for j, latent in enumerate(entry.latents):
        h = 0.5 * 0.3 * linear.summary.std[latent]
        assert entry.values[-1, j] == pytest.approx(2 * (math.cosh(h) - 1) / math.sinh(h) / 0.5, rel=1e-2)


def test_every_layer_of_every_run_is_drawn(
    gaussian: Run, quantised: Run, data: FactorData, generator: torch.Generator
) -> None:
    result = make_curvature([gaussian, quantised], [data, data], generator, points=2)
    panel = draw_curvature(result).axes[0]
    assert panel.get_xticklabels()[-1].get_text() == "image"
    for entry in result.runs:
        thick = [line for line in panel.lines if line.get_linewidth() > 1]
        assert any(np.asarray(line.get_ydata(), float) == pytest.approx(entry.values.mean(1)) for line in thick)
    assert len(result.records()) == sum(entry.values.size for entry in result.runs)
    with pytest.raises(InputError, match="step must be above 0"):
        make_curvature([gaussian], [data], generator, step=0)


def test_labels_of_runs_stay_as_given() -> None:
    entries = [LayerCurvature(name, ("image",), (0,), np.ones((1, 1))) for name in ("qlae", "my_run")]
    figure = draw_curvature(Curvatures("", tuple(entries)))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["qlae", "my_run"]
