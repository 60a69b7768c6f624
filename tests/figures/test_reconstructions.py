from __future__ import annotations

from pathlib import Path

import torch

from tests.training.small import bars, trained
from unweave.figures import draw_reconstructions, make_reconstructions


def test_images_stand_above_their_reconstructions(tmp_path: Path, generator: torch.Generator) -> None:
    run = trained(tmp_path, steps=2)
    result = make_reconstructions(run, bars(), generator, columns=5)
    assert result.title == "beta_vae (batch 8, net conv16) on own images, seed 0, 2 steps"
    assert "barely better than the mean image" in result.note
    expected = (run.reconstruct(result.images) * 255).round().to(torch.uint8)
    assert torch.equal(result.reconstructions, expected)
    figure = draw_reconstructions(result)
    assert [text.get_text() for text in figure.texts][2:] == ["image", "reconstruction", "difference"]
