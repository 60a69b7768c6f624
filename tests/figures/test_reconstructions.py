from __future__ import annotations

from pathlib import Path

import torch

from tests.training.small import bars, trained
from unweave.figures import draw_reconstructions, make_reconstructions


def test_images_stand_over_what_the_run_makes_of_them(tmp_path: Path, generator: torch.Generator) -> None:
    run = trained(tmp_path, steps=2)
    result = make_reconstructions(run, bars(), generator, columns=5)
    assert result.title == "beta_vae on these images"
    expected = (run.reconstruct(result.images) * 255).round().to(torch.uint8)
    assert torch.equal(result.reconstructions, expected)
    figure = draw_reconstructions(result)
    assert [text.get_text() for text in figure.axes[0].texts] == ["image", "reconstruction", "difference"]
