from __future__ import annotations

from pathlib import Path

import torch

from tests.training.small import bars, trained
from unweave import FactorData, Run
from unweave.figures import Reconstructions, draw_reconstructions, make_reconstructions
from unweave.figures.drawing.strips import to_bytes
from unweave.figures.reconstructions import ImageRows, compare_reconstructions, draw_comparison


def test_images_stand_above_their_reconstructions(tmp_path: Path, generator: torch.Generator) -> None:
    run = trained(tmp_path, steps=2)
    result = make_reconstructions(run, bars(), generator, columns=5)
    assert result.title == "β-VAE on own images, seed 0, 2 steps"
    assert "barely better than the mean image" in result.note
    expected = (run.reconstruct(result.images) * 255).round().to(torch.uint8)
    assert torch.equal(result.reconstructions, expected)
    figure = draw_reconstructions(result)
    assert [text.get_text() for text in figure.texts][2:] == ["image", "reconstruction", "difference"]


def test_runs_reconstruct_the_same_images(
    gaussian: Run, quantised: Run, data: FactorData, generator: torch.Generator
) -> None:
    result = compare_reconstructions([gaussian, quantised], [data, data], generator, columns=4)
    assert isinstance(result, ImageRows)
    assert [label for label, _ in result.rows] == ["own images\nimages", "β-VAE", "QLAE"]
    images = result.rows[0][1]
    for run, (_, again) in zip((gaussian, quantised), result.rows[1:], strict=True):
        assert torch.equal(again, to_bytes(run.reconstruct(images)))
    assert len(draw_comparison(result).axes) == 3
    single = compare_reconstructions([gaussian], [data], generator, columns=4)
    assert isinstance(single, Reconstructions)
    assert len(draw_comparison(single).axes) == 3
