from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import unweave
from unweave.errors import InputError


@pytest.fixture(scope="module")
def factors() -> torch.Tensor:
    return unweave.load("dsprites").space.sample(400, torch.Generator().manual_seed(1))


@pytest.fixture(scope="module")
def mask(factors: torch.Tensor) -> torch.Tensor:
    """Return the pixels that the sprite covers (B, 3, 64, 64)."""
    return unweave.load("dsprites").images(factors).bool().expand(-1, 3, -1, -1)


def rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("name", ["color_dsprites", "noisy_dsprites", "scream_dsprites"])
def test_chance_is_the_generators_and_needs_one(name: str, factors: torch.Tensor) -> None:
    data = unweave.load(name)
    assert data.stochastic
    assert torch.equal(data.images(factors[:9], rng(5)), data.images(factors[:9], rng(5)))
    assert not torch.equal(data.images(factors[:9], rng(5)), data.images(factors[:9], rng(6)))
    with pytest.raises(InputError, match=r"pass a torch\.Generator"):
        data.images(factors)
    assert unweave.load(name, size=32).images(factors[:2], rng()).shape == (2, 3, 32, 32)


def test_colour_is_one_a_sprite_uniform_from_half_to_one_on_black(factors: torch.Tensor, mask: torch.Tensor) -> None:
    images = unweave.load("color_dsprites").images(factors, rng())
    assert (images[~mask] == 0).all()
    colours = images.flatten(2).amax(2)  # (B, 3)
    assert torch.equal(images, torch.where(mask, colours[..., None, None], 0))
    assert colours.min() >= 127
    assert colours.float().mean() / 255 == pytest.approx(0.75, abs=0.01)
    assert colours.float().std() / 255 == pytest.approx(0.5 / 12**0.5, abs=0.01)


def test_noise_is_uniform_behind_a_white_sprite(factors: torch.Tensor, mask: torch.Tensor) -> None:
    images = unweave.load("noisy_dsprites").images(factors, rng())
    assert (images[mask] == 255).all()
    counts = torch.bincount(images[~mask].long(), minlength=256).double()
    expected = counts.sum() / 256
    assert ((counts - expected) ** 2 / expected).sum() < 340  # 255 degrees of freedom
    first, second = images[:-1].float(), images[1:].float()
    assert torch.corrcoef(torch.stack([first.flatten(), second.flatten()]))[0, 1].abs() < 0.08  # sprites aside


def test_the_scream_is_halved_shifted_and_inverted_under_the_sprite(factors: torch.Tensor, mask: torch.Tensor) -> None:
    data = unweave.load("scream_dsprites")
    images = data.images(factors, rng()).float()
    background = torch.where(mask, 255 - images, images)
    painting = data._patches  # type: ignore[attr-defined]
    assert painting.shape[:3] == (3, 274 - 63, 215 - 63)
    # (patch + shift) / 2 has half the painting's contrast whatever the shift: compare with every patch of the painting
    image = background[0]
    patches = painting.permute(1, 2, 0, 3, 4).reshape(-1, 3, 64, 64)[:, :, ::8, ::8].float() / 2
    shifted = image[:, ::8, ::8] - patches  # constant a channel at the right patch
    spread = shifted.flatten(2).std(2).amax(1)
    assert spread.min() < 0.5
    shift = shifted[spread.argmin()].flatten(1).mean(1)
    assert ((shift >= -0.5) & (shift <= 128)).all()


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
