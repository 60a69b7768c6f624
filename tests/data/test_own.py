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
from unweave.figures import make_sheet

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


def test_a_table_that_does_not_fill_its_grid_is_narrowed_and_shown(generator: torch.Generator) -> None:
    data = own(IMAGES[:11], factors=FACTORS[:11], names=["row", "column"])
    assert not data.can_intervene
    batch = data.sample(40, generator, where={"row": 2})
    assert batch.factors is not None
    assert set(map(tuple, batch.factors.tolist())) == {(2, 0), (2, 1), (2, 2)}
    with pytest.raises(InputError, match=r"has no image with \{'row': 2, 'column': 3\}"):
        data.sample(1, generator, where={"row": 2, "column": 3})
    with pytest.raises(InputError, match="restricted by where= only, not correlation="):
        data.sample(1, generator, correlation={("row", "column"): 0.5})
    for seed in range(12):
        make_sheet(data, torch.Generator().manual_seed(seed))


def test_more_factors_than_a_grid_has_positions_for(generator: torch.Generator) -> None:
    data = own(IMAGES, factors=np.random.default_rng(0).integers(0, 3, (12, 60)))
    assert data.sample(3, generator).images.shape == (3, 3, 8, 8)
    assert not data.can_intervene
    with pytest.raises(InputError, match="no 64-bit positions"):
        data.images(torch.zeros(1, 60, dtype=torch.int64))


def test_numbered_pictures_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for number in range(12):
        Image.fromarray(np.full((8, 8), number, np.uint8)).save(tmp_path / f"{number}.png")
    (tmp_path / "factors.csv").write_text("n\n" + "\n".join(map(str, range(12))))
    data = own(tmp_path)
    assert data.rows(ALL)[:, 0, 0, 0].tolist() == list(range(12))
    assert (data.images(torch.tensor([[10]])) == 10).all()


def test_the_official_dsprites_file_is_read_past_its_pickled_metadata(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "d.NPZ", imgs=IMAGES[..., 0], latents_classes=FACTORS, metadata=np.array({"a": 1}, dtype=object)
    )
    (tmp_path / "d.NPZ.npz").rename(tmp_path / "d.NPZ")
    assert own(tmp_path / "d.NPZ").space.sizes == (3, 4)


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
        (IMAGES, {"factors": FACTORS, "names": [3, 4]}, "as many different names"),
        (IMAGES, {"size": 0}, "size in pixels must be a whole number of at least 4"),
        (torch.zeros(2, 8, 8).to_sparse(), {}, "a dense tensor with values"),
        (torch.zeros(2, 8, 8, device="meta"), {}, "a dense tensor with values"),
        (IMAGES, {"factors": np.zeros((12, 2, 2))}, r"must be \(N, K\)"),
        (IMAGES, {"factor": FACTORS}, "did you mean 'factors'"),
        (IMAGES.astype(np.int64), {}, "uint8, or floats from 0 to 1"),
        (IMAGES / 2.0, {}, "between 0 and 1"),
        (np.full((2, 8, 8), np.nan), {}, "NaN or infinite"),
        (IMAGES[..., :2], {}, "which axis"),
        (IMAGES[:0], {}, "with N > 0"),
        (np.zeros((3, 8, 2), np.uint8), {}, "size in pixels must be a whole number of at least 4"),
        ("./nowhere/", {}, r"no file or folder .*nowhere"),
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
    (tmp_path / "c.npz").write_bytes(b"PK no archive")
    with pytest.raises(InputError, match=r"c\.npz cannot be read"):
        own(tmp_path / "c.npz")
    (tmp_path / "f.csv").write_text("x\n1\n")
    with pytest.raises(InputError, match="has names for its columns"):
        own(IMAGES, factors=tmp_path / "f.csv", names=["a"])
    np.savez(tmp_path / "b.npz", one=IMAGES, two=IMAGES)
    with pytest.raises(InputError, match="name the array of images 'images'; the file has one, two"):
        own(tmp_path / "b.npz")
