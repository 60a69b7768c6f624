"""examples/sparse_autoencoder.py: its autoencoder finds directions that are known, and its picture is drawn."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch

from unweave.metrics import feature_match, sparsity

PATH = Path(__file__).parents[1] / "examples" / "sparse_autoencoder.py"


@pytest.fixture
def example() -> Any:
    spec = importlib.util.spec_from_file_location("sparse_autoencoder", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_known_directions_are_found_and_drawn(example: Any, tmp_path: Path) -> None:
    torch.manual_seed(0)
    truth = torch.nn.functional.normalize(torch.randn(12, 10), dim=1)  # more directions than dimensions
    active = torch.rand(4_000, 12).argsort(1) < 2
    features = (active * (1 + torch.rand(4_000, 12))) @ truth
    example.LATENTS, example.ACTIVE = 16, 3
    untrained, trained = example.train(features, 0), example.train(features, 400)
    before, after = (feature_match(each.decoder.detach(), truth).mcc for each in (untrained, trained))
    assert before < 0.75
    assert after > before + 0.1
    with torch.no_grad():
        latents = trained.encode(features)
    assert sparsity(latents).active <= 3
    images = torch.randint(256, (4_000, 3, 8, 8), dtype=torch.uint8)
    example.draw(images, latents, {0: ("shape 1", 0.9), 3: ("hue 2", 0.5)}, tmp_path / "best.png")
    assert (tmp_path / "best.png").stat().st_size > 1_000
