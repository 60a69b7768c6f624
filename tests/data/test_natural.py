from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from scipy.io import savemat

import unweave
from unweave.data import natural, open_data, space_of
from unweave.data.files.downloads import RemoteFile
from unweave.errors import InputError, Unavailable


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Two pictures whose pixels tell where they are: 40 wide, value = column; 30 wide, value = 100 + row."""
    Image.fromarray(np.tile(np.arange(40, dtype=np.uint8), (20, 1))).save(tmp_path / "a.png")
    Image.fromarray(np.tile(100 + np.arange(50, dtype=np.uint8)[:, None], (1, 30))).save(tmp_path / "b.png")
    (tmp_path / "notes.txt").write_text("not a picture")
    return tmp_path


def test_crops_are_whole_patches_from_everywhere(pictures: Path, generator: torch.Generator) -> None:
    data = unweave.load("natural", folder=pictures, crops=20_000)
    assert data.shape == (1, 16, 16)
    assert data.num_images == 20_000
    crops = data.rows(torch.arange(20_000))[:, 0].long()
    of_a = crops[:, 0, 0] < 100
    assert of_a.float().mean() == pytest.approx(0.5, abs=0.02)
    across, down = crops[of_a], crops[~of_a]
    assert torch.equal(across, across[:, :1, :1] + torch.arange(16).expand(16, 16))
    assert torch.equal(down, down[:, :1, :1] + torch.arange(16)[:, None].expand(16, 16))
    assert set(across[:, 0, 0].tolist()) == set(range(25))
    assert set(down[:, 0, 0].tolist()) == set(range(100, 135))
    batch = data.sample(7, generator)
    assert batch.factors is None
    assert batch.images.shape == (7, 1, 16, 16)


def test_the_seed_chooses_the_crops(pictures: Path) -> None:
    first, again, other = (unweave.load("natural", folder=pictures, crops=50, seed=seed) for seed in (1, 1, 2))
    everything = torch.arange(50)
    assert torch.equal(first.rows(everything), again.rows(everything))
    assert not torch.equal(first.rows(everything), other.rows(everything))


def test_genuine_pictures(shared_data: Path) -> None:
    data = unweave.load("natural", folder=shared_data / "natural")
    assert data.num_images == 100_000
    crops = data.rows(torch.arange(2000)).float()
    neighbours = torch.corrcoef(torch.stack([crops[..., :-1].flatten(), crops[..., 1:].flatten()]))[0, 1]
    assert neighbours > 0.85  # what makes pictures natural


def test_whitening_divides_out_the_spectrum_of_natural_pictures(generator: torch.Generator) -> None:
    """A picture with amplitudes 1 / f becomes one with amplitudes exp(−(f / f₀)⁴), up to its variance."""
    size = 64
    frequency = np.hypot(np.fft.fftfreq(size)[:, None], np.fft.fftfreq(size))
    noise = np.fft.fft2(torch.randn(size, size, generator=generator).numpy())
    phases = noise / np.abs(noise)  # of a real picture
    picture = np.fft.ifft2(phases / np.where(frequency > 0, frequency, np.inf)).real
    result = natural.whitened(picture * 255)
    amplitudes = np.abs(np.fft.fft2(result))
    expected = np.where(frequency > 0, np.exp(-((frequency * 2.56) ** 4)), 0)
    assert amplitudes / amplitudes.max() == pytest.approx(expected / expected.max(), abs=1e-6)
    assert result.std() == pytest.approx(1)
    assert not natural.whitened(np.full((8, 9), 7, dtype=np.uint8)).any()


def test_whitened_pictures_fill_the_range_and_lose_their_correlation(shared_data: Path) -> None:
    data = unweave.load("natural", folder=shared_data / "natural", whiten=True)
    crops = data.rows(torch.arange(2000)).float()
    neighbours = torch.corrcoef(torch.stack([crops[..., :-1].flatten(), crops[..., 1:].flatten()]))[0, 1]
    assert neighbours < 0.7  # 0.85 and more before; the cut of the filter keeps some
    plain = unweave.load("natural", folder=shared_data / "natural")
    assert data.identity != plain.identity
    with pytest.raises(InputError, match=r"IMAGES\.mat is whitened"):
        unweave.load("natural", whiten=True)


def test_images_mat_is_read_with_its_range_stretched(
    empty_data_root: Path, monkeypatch: pytest.MonkeyPatch, generator: torch.Generator
) -> None:
    """A fabricated IMAGES.mat: three pictures of 20 × 20 in the format of Olshausen and Field's."""
    path = empty_data_root / "natural" / "IMAGES.mat"
    path.parent.mkdir(parents=True)
    pictures = torch.randn(20, 20, 3, generator=generator, dtype=torch.float64).numpy()
    savemat(path, {"IMAGES": pictures})
    content = path.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    monkeypatch.setattr(natural, "IMAGES", RemoteFile("IMAGES.mat", "", checksum=f"git:{blob}"))
    monkeypatch.setattr(natural.Natural, "card", replace(natural.Natural.card, files=(natural.IMAGES,)))
    crops = unweave.load("natural", size=20, crops=100).rows(torch.arange(100))[:, 0]
    scaled = np.round((pictures - pictures.min()) / np.ptp(pictures) * 255)
    expected = {scaled[:, :, k].astype(np.uint8).tobytes() for k in range(3)}
    assert {crop.numpy().tobytes() for crop in crops} == expected


def test_what_cannot_be_cropped_is_a_sentence(empty_data_root: Path, pictures: Path, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"unweave data fetch natural.*IMAGES.mat into .*folder="):
        unweave.load("natural")
    with pytest.raises(InputError, match=r"40×20 pixels is smaller than a crop of 24×24"):
        unweave.load("natural", folder=pictures, size=24)
    with pytest.raises(InputError, match="no folder"):
        unweave.load("natural", folder=tmp_path / "nowhere")
    with pytest.raises(InputError, match="crops must be a whole number of at least 1"):
        unweave.load("natural", folder=pictures, crops=0)
    with pytest.raises(InputError, match="natural has no factors, only images"):
        unweave.load("natural", folder=pictures).images(torch.tensor([[0]]))


def test_clip_sets_the_contrast(tmp_path: Path, generator: torch.Generator) -> None:
    """Of normal pixels, 0.27 % lie beyond 3 standard deviations, and one deviation is 255 / 6 levels."""
    noise = torch.randn(400, 400, generator=generator).mul(20).add(128).clamp(0, 255).byte().numpy()
    Image.fromarray(noise).save(tmp_path / "a.png")
    data = unweave.load("natural", folder=tmp_path, whiten=True, clip=3, crops=3000)
    pixels = data.rows(torch.arange(3000)).double()
    assert ((pixels == 0) | (pixels == 255)).double().mean() == pytest.approx(0.0027, abs=0.001)
    assert pixels.std() == pytest.approx(255 / 6, rel=0.02)
    assert data.identity.options["clip"] == 3
    assert "clip" not in unweave.load("natural", folder=tmp_path, whiten=True, crops=3000).identity.options


@pytest.mark.parametrize("options", [{"clip": 0, "whiten": True}, {"clip": 3}])
def test_impossible_clips(pictures: Path, options: dict[str, object]) -> None:
    with pytest.raises(InputError, match="clip"):
        unweave.load("natural", folder=pictures, **options)


def test_whitened_pictures_of_a_folder_can_be_configured_from_their_identity(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (40, 40), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "noise.png")
    data = unweave.load("natural", folder=tmp_path, whiten=True)
    assert space_of(data.identity) is None
    assert open_data(data.identity).identity == data.identity
