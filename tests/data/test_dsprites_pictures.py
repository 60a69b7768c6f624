from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import unweave
from unweave.errors import InputError


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Two pictures of 64 × 64, so that a patch is a whole picture, as in Disent."""
    generator = np.random.default_rng(0)
    for name in "ab":
        Image.fromarray(generator.integers(0, 256, (64, 64, 3), dtype=np.uint8)).save(tmp_path / f"{name}.png")
    return tmp_path


@pytest.mark.parametrize("where", ["background", "sprite"])
@pytest.mark.parametrize("visibility", [1.0, 0.6, 0.0])
def test_images_are_mixed_as_in_disent(pictures: Path, where: str, visibility: float) -> None:
    """The formulas of disent 0.8.0: r · picture behind, or r · picture + (1 − r) · 255 within the sprite, truncated."""
    data = unweave.load("dsprites_pictures", folder=pictures, where=where, visibility=visibility)
    index = torch.arange(0, 700_000, 50_001)
    sprites = unweave.load("dsprites").rows(index).numpy().repeat(3, axis=1)
    originals = [np.asarray(Image.open(pictures / f"{name}.png")).transpose(2, 0, 1) for name in "ab"]
    for image, sprite in zip(data.rows(index).numpy(), sprites, strict=True):
        expected = []
        for picture in originals:
            if where == "background":
                mixed = (visibility * picture.astype(np.float32)).astype("uint8")
                mixed[sprite > 127] = 255
            else:
                mixed = (visibility * picture.astype(np.float32) + (1 - visibility) * 255).astype("uint8")
                mixed[sprite <= 127] = 0
            expected.append(mixed)
        assert any(np.abs(image.astype(int) - each).max() <= 1 for each in expected)


def test_patches_belong_to_positions_and_cover_the_painting() -> None:
    data = unweave.load("dsprites_pictures")
    index = torch.arange(300)
    images = data.rows(index)
    assert torch.equal(images.flip(0), data.rows(index.flip(0)))
    corners = images[:, :, 0, 0].unique(dim=0)  # the sprites start elsewhere
    assert len(corners) > 200
    assert not torch.equal(images, unweave.load("dsprites_pictures", seed=1).rows(index))


def test_impossible_options(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="visibility must be between 0 and 1"):
        unweave.load("dsprites_pictures", visibility=100)
    Image.new("RGB", (60, 80)).save(tmp_path / "a.png")
    with pytest.raises(InputError, match="at least 64 × 64"):
        unweave.load("dsprites_pictures", folder=tmp_path)
