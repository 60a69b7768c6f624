from __future__ import annotations

from pathlib import Path

import torch

from tests.training.small import bars, trained
from unweave.figures import draw_traversals, make_traversals


def test_latents_are_ordered_by_kl(tmp_path: Path, generator: torch.Generator) -> None:
    run = trained(tmp_path, steps=30, lr=1e-3, latents=4)
    result = make_traversals(run, bars(), generator, steps=3)
    kl = run.summary.kl
    assert kl is not None
    order = sorted(range(4), key=lambda latent: -kl[latent])
    assert [label for label, _ in result.rows] == [f"z{latent}, {kl[latent]:.2f} nats" for latent in order]
    assert all(images.shape == (3, 1, 16, 16) for _, images in result.rows)
    assert len(draw_traversals(result).axes[0].texts) == 4
