from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from torch import Tensor

import unweave
from unweave.data import dsprites, open_data
from unweave.data.dsprites import SPACE, DSprites, draw_sprites
from unweave.data.files.downloads import RemoteFile
from unweave.errors import InputError, Unavailable
from unweave.factors import FactorSpace

FIXTURE = Path(__file__).parents[1] / "fixtures" / "dsprites_genuine.npz"


def genuine(path: Path) -> tuple[Tensor, Tensor, Tensor]:
    """Official images (N, 64, 64) of 0 and 1, their factors and their positions."""
    with np.load(path) as file:
        images, factors, index = np.unpackbits(file["images"], axis=-1), file["factors"], file["index"]
    return torch.from_numpy(images), torch.from_numpy(factors.astype(np.int64)), torch.from_numpy(index)


def test_drawing_reproduces_the_genuine_sample() -> None:
    images, factors, _ = genuine(FIXTURE)
    wrong = (draw_sprites(factors) != images).sum((1, 2))
    assert (wrong == 0).sum() == 500
    assert wrong.max() == 1  # the two known misses


def test_drawing_reproduces_fifty_six_thousand_genuine_images(shared_data: Path) -> None:
    wrong = []
    for name in ("dsprites_random.npz", "dsprites_grid.npz"):
        images, factors, _ = genuine(shared_data / name)
        wrong.append((draw_sprites(factors) != images).sum((1, 2)))
    misses = torch.cat(wrong)
    assert len(misses) == 56_080
    assert (misses == 0).double().mean() >= 0.9998
    assert misses.max() <= 1


def test_the_set_gives_the_genuine_images_by_factors_and_by_official_position() -> None:
    images, factors, index = genuine(FIXTURE)
    data = unweave.load("dsprites")
    drawn = data.images(factors)
    assert drawn.shape == (502, 1, 64, 64)
    assert drawn.dtype == torch.uint8
    assert (drawn[:, 0] != images * 255).sum() == 2
    assert torch.equal(drawn, data.rows(index))


def test_a_smaller_size_is_the_average_of_blocks() -> None:
    _, factors, _ = genuine(FIXTURE)
    full = unweave.load("dsprites").images(factors[:50]).float()
    small = unweave.load("dsprites", size=32).images(factors[:50]).float()
    blocks = full.unfold(2, 2, 2).unfold(3, 2, 2).mean((-1, -2))
    assert (small - blocks).abs().max() <= 0.5


def test_the_drawn_grid_is_kept_in_under_400_megabytes(data_root: Path) -> None:
    unweave.load("dsprites")
    kept = data_root / "dsprites" / "drawn-v1-bits.npy"
    assert kept.stat().st_size < 400e6
    before = kept.stat().st_mtime_ns
    unweave.load("dsprites")
    assert kept.stat().st_mtime_ns == before


@pytest.fixture
def tiny_official(empty_data_root: Path, monkeypatch: pytest.MonkeyPatch) -> Tensor:
    """A fabricated dSprites of 12 random images; the tests write it in the official file's formats."""
    monkeypatch.setattr(dsprites, "SPACE", FactorSpace.of(shape=3, x=4))
    monkeypatch.setattr(DSprites, "card", replace(DSprites.card, space=dsprites.SPACE))
    (empty_data_root / "dsprites").mkdir(parents=True)
    return torch.randint(2, (12, 64, 64), dtype=torch.uint8, generator=torch.Generator().manual_seed(3))


def publish(path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the fabricated file the published one."""
    monkeypatch.setattr(
        dsprites, name, RemoteFile(path.name, "", checksum=f"md5:{hashlib.md5(path.read_bytes()).hexdigest()}")
    )


def test_the_official_npz_is_read_where_present(
    tiny_official: Tensor, empty_data_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = empty_data_root / "dsprites" / dsprites.NPZ.name
    np.savez_compressed(path, metadata=np.array({"a": 1}, dtype=object), imgs=tiny_official.numpy())
    publish(path, "NPZ", monkeypatch)
    data = DSprites()
    assert data.origin == "official"
    assert torch.equal(data.rows(torch.arange(12)), tiny_official[:, None] * 255)
    path.unlink()
    assert DSprites().origin == "official"  # once converted, the file is needed no more


def test_the_official_hdf5_is_read_where_present(
    tiny_official: Tensor, empty_data_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = empty_data_root / "dsprites" / dsprites.HDF5.name
    with h5py.File(path, "w") as file:
        file["imgs"] = tiny_official.numpy()
    publish(path, "HDF5", monkeypatch)
    assert torch.equal(DSprites().rows(torch.arange(12)), tiny_official[:, None] * 255)


def test_a_corrupt_official_file_is_named_with_both_checksums(empty_data_root: Path) -> None:
    path = empty_data_root / "dsprites" / dsprites.NPZ.name
    path.parent.mkdir(parents=True)
    path.write_bytes(b"half a file")
    actual = hashlib.md5(b"half a file").hexdigest()
    with pytest.raises(Unavailable, match=f"{path.name}.*7da33b31b13a06f4b04a70402ce90c2e but is {actual}"):
        unweave.load("dsprites")
    assert [p.name for p in path.parent.iterdir() if p.suffix != ".lock"] == [path.name]


def test_an_official_file_of_another_length_is_refused(
    tiny_official: Tensor, empty_data_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = empty_data_root / "dsprites" / dsprites.NPZ.name
    np.savez(path, imgs=tiny_official[:11].numpy())
    publish(path, "NPZ", monkeypatch)
    with pytest.raises(Unavailable, match="does not have the 12 images"):
        DSprites().prepare()


def test_the_space_is_the_official_one() -> None:
    assert SPACE.size == 737_280
    assert SPACE.names == ("shape", "scale", "orientation", "x", "y")


@pytest.mark.parametrize(
    "name", ["dsprites", "color_dsprites", "noisy_dsprites", "scream_dsprites", "dsprites_pictures"]
)
def test_sprites_of_one_orientation_are_those_of_the_whole_set(name: str) -> None:
    whole, held = unweave.load(name, size=32), unweave.load(name, size=32, orientation=13)
    assert held.space.names == ("shape", "scale", "x", "y")
    assert held.num_images == 737_280 // 40
    points = held.space.sample(20, torch.Generator().manual_seed(0))
    turned = torch.cat([points[:, :2], torch.full((20, 1), 13), points[:, 2:]], dim=1)
    expected = whole.images(turned, torch.Generator().manual_seed(1))
    assert held.images(points, torch.Generator().manual_seed(1)).equal(expected)
    assert held.rows(held.space.index(points), torch.Generator().manual_seed(1)).equal(expected)


def test_the_orientation_is_part_of_the_identity_only_if_it_is_given() -> None:
    assert "orientation" not in unweave.load("dsprites").identity.options  # the runs of before keep their names
    held = unweave.load("dsprites,orientation=0")
    assert held.identity.options["orientation"] == 0
    assert open_data(held.identity).space.names == held.space.names
    assert held.identity != unweave.load("dsprites", orientation=1).identity


@pytest.mark.parametrize("wrong", [-1, 40, "left"])
def test_orientations_that_do_not_exist_are_refused(wrong: object) -> None:
    with pytest.raises(InputError, match="orientation"):
        unweave.load("color_dsprites", orientation=wrong)
