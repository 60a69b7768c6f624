from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from PIL import Image

import unweave
from unweave.data import OwnImages
from unweave.errors import InputError

IMAGES = np.random.default_rng(0).integers(0, 256, (12, 8, 8, 3), dtype=np.uint8)
FACTORS = np.array([[i // 4, i % 4] for i in range(12)])
EXPECTED = torch.from_numpy(IMAGES).permute(0, 3, 1, 2)
ALL = torch.arange(12)


def own(source: object, **options: object) -> OwnImages:
    data = unweave.load(source, **options)  # type: ignore[arg-type]
    assert isinstance(data, OwnImages)
    return data


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "pictures"
    path.mkdir()
    for number, image in enumerate(IMAGES):
        Image.fromarray(image).save(path / f"{number:02}.png")
    return path


def test_a_folder_with_a_table(folder: Path, generator: torch.Generator) -> None:
    rows = [f"{number:02}.png,{a},{b}" for number, (a, b) in reversed(list(enumerate(FACTORS)))]
    (folder / "factors.csv").write_text("file,row,column\n" + "\n".join(rows))
    data = own(f"{folder}/")
    assert data.space.names == ("row", "column")
    assert data.shape == (3, 8, 8)
    assert not data.stochastic
    assert torch.equal(data.rows(ALL), EXPECTED)
    assert torch.equal(data.images(torch.tensor([[2, 1]])), EXPECTED[[9]])
    batch = data.sample(30, generator)
    assert batch.factors is not None
    assert torch.equal(batch.images, data.images(batch.factors))


def test_a_folder_without_a_table_has_images_only(folder: Path, generator: torch.Generator) -> None:
    data = own(folder)
    assert not data.has_factors
    assert data.labels is None
    assert data.sample(5, generator).factors is None
    calls = [lambda: data.space, lambda: data.images(ALL[:, None]), lambda: data.sample(1, generator, where={"x": 0})]
    for call in calls:
        with pytest.raises(InputError, match="has no factors, only images"):
            call()  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("kind", ["npy", "npz", "h5", "array", "tensor", "floats", "channels first", "grey"])
def test_arrays_of_every_kind(tmp_path: Path, kind: str) -> None:
    expected: torch.Tensor = EXPECTED
    source: object
    if kind == "npy":
        source = tmp_path / "images.npy"
        np.save(source, IMAGES)
    elif kind == "npz":
        source = tmp_path / "images.npz"
        np.savez(source, images=IMAGES, labels=FACTORS)
    elif kind == "h5":
        source = tmp_path / "images.h5"
        with h5py.File(source, "w") as file:
            file["images"], file["factors"] = IMAGES, FACTORS
    elif kind == "grey":
        source, expected = IMAGES[..., 0], EXPECTED[:, :1]
    else:
        source = {
            "array": IMAGES,
            "tensor": torch.from_numpy(IMAGES),
            "floats": IMAGES.astype(np.float32) / 255,
            "channels first": EXPECTED,
        }[kind]
    found = {} if kind in ("npz", "h5") else {"factors": FACTORS}
    data = own(source, names=["a", "b"], **found)
    assert torch.equal(data.rows(ALL), expected)
    assert data.space.sizes == (3, 4)
    assert torch.equal(data.images(torch.tensor([[1, 3]])), expected[[7]])


def test_an_npy_file_is_mapped_not_read(tmp_path: Path) -> None:
    np.save(tmp_path / "images.npy", IMAGES)
    assert isinstance(own(tmp_path / "images.npy")._images, np.memmap)


def test_a_point_with_several_images_gives_any_of_them(generator: torch.Generator) -> None:
    data = own(IMAGES, factors=FACTORS[:, :1])
    assert data.stochastic
    seen = data.images(torch.full((200, 1), 1), generator)
    assert {image.numpy().tobytes() for image in seen} == {image.numpy().tobytes() for image in EXPECTED[4:8]}


def test_a_point_with_no_image_is_named(generator: torch.Generator) -> None:
    data = own(IMAGES[:11], factors=FACTORS[:11], names=["row", "column"])
    assert data.sample(50, generator).images.shape[0] == 50
    with pytest.raises(InputError, match="has no image with row 2, column 3: its factors do not fill the grid"):
        data.images(torch.tensor([[0, 0], [2, 3]]))


def test_continuous_factors_come_with_samples_and_make_no_grid(generator: torch.Generator) -> None:
    angles = np.random.default_rng(1).uniform(size=(12, 1))
    data = own(IMAGES, factors=angles, names=["angle"])
    assert not data.has_factors
    batch = data.sample(4, generator)
    assert batch.factors is not None
    assert batch.factors.dtype == torch.float64
    with pytest.raises(
        InputError, match=r"angle is continuous, with 12 distinct values\. This needs factors on a grid"
    ):
        _ = data.space


def test_pictures_can_be_made_alike(folder: Path) -> None:
    Image.fromarray(IMAGES[0]).resize((20, 10)).save(folder / "99.png")
    with pytest.raises(InputError, match=r"differ in size: 00\.png is 8×8 and 99\.png is 20×10\. Pass size="):
        own(folder)
    assert own(folder, size=4).rows(torch.arange(13)).shape == (13, 3, 4, 4)


def test_grey_pictures_stay_grey_unless_one_has_colour(tmp_path: Path) -> None:
    for number in range(3):
        Image.fromarray(IMAGES[number, ..., 0]).save(tmp_path / f"{number}.png")
    assert own(tmp_path).shape == (1, 8, 8)
    Image.fromarray(IMAGES[3]).save(tmp_path / "3.png")
    data = own(tmp_path)
    assert data.shape == (3, 8, 8)
    assert torch.equal(data.rows(torch.tensor([1, 3])), torch.stack([EXPECTED[1, :1].expand(3, 8, 8), EXPECTED[3]]))


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (IMAGES, {"factors": FACTORS[:5]}, "12 images and 5 rows of factors"),
        (IMAGES, {"factors": FACTORS, "names": ["a"]}, "as many different names"),
        (IMAGES, {"names": ["a"]}, "there are none"),
        (IMAGES, {"factors": np.zeros((12, 2, 2))}, r"must be \(N, K\)"),
        (IMAGES, {"factor": FACTORS}, "did you mean 'factors'"),
        (IMAGES.astype(np.int64), {}, "uint8, or floats from 0 to 1"),
        (IMAGES / 2.0, {}, "between 0 and 1"),
        (np.full((2, 8, 8), np.nan), {}, "NaN or infinite"),
        (IMAGES[..., :2], {}, "which axis"),
        (IMAGES[:0], {}, "with N > 0"),
        (IMAGES[0], {"factors": FACTORS}, "not square|rows of factors"),
        (np.zeros((3, 8, 9), np.uint8), {}, "9×8, not square: pass size="),
        ("./nowhere/", {}, r"no file or folder nowhere"),
    ],
)
def test_what_cannot_be_loaded_is_a_sentence(source: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        own(source, **options)


def test_folders_and_files_that_cannot_be_read_are_named(tmp_path: Path, folder: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="has no pictures"):
        own(empty)
    (folder / "broken.png").write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"broken\.png cannot be read as a picture"):
        own(folder)
    (tmp_path / "a.npy").write_bytes(b"no array")
    with pytest.raises(InputError, match=r"a\.npy cannot be read"):
        own(tmp_path / "a.npy")
    (tmp_path / "a.txt").write_text("text")
    with pytest.raises(InputError, match=r"a\.txt is not a folder, nor an \.npy"):
        own(tmp_path / "a.txt")
    np.savez(tmp_path / "b.npz", one=IMAGES, two=IMAGES)
    with pytest.raises(InputError, match="call the array of images 'images'; it has one, two"):
        own(tmp_path / "b.npz")
