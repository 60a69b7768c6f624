"""The user's own images: what is found with them, reported and refused. Images themselves are in test_own.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import unweave
from unweave.errors import InputError
from unweave.figures import make_sheet

IMAGES = np.random.default_rng(0).integers(0, 256, (12, 8, 8, 3), dtype=np.uint8)
FACTORS = np.array([[i // 4, i % 4] for i in range(12)])
ALL = torch.arange(12)


class Series:
    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def to_numpy(self) -> np.ndarray[Any, Any]:
        return np.array(self._values, dtype=object)


class Frame:
    """The little of a pandas DataFrame that is used; pandas is not a dependency."""

    def __init__(self, **columns: list[Any]) -> None:
        self.columns, self._columns = list(columns), columns

    def __getitem__(self, name: str) -> Series:
        return Series(self._columns[name])

    def to_numpy(self) -> np.ndarray[Any, Any]:
        return np.array(list(self._columns.values()), dtype=object).T


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "photos").mkdir()
    for number, image in enumerate(IMAGES):
        Image.fromarray(image).save(tmp_path / "photos" / f"{number}.png")
    return tmp_path / "photos"


def test_images_keep_their_height_and_width_unless_size_is_given() -> None:
    wide = np.ascontiguousarray(IMAGES[:, :6])
    data = unweave.load(wide)
    assert data.shape == (3, 6, 8)
    assert torch.equal(data.rows(ALL), torch.from_numpy(wide).permute(0, 3, 1, 2))
    assert unweave.load(wide, size=4).rows(ALL).shape == (12, 3, 4, 4)
    assert make_sheet(data, torch.Generator().manual_seed(0)).rows[0][1].shape[1:] == (3, 6, 8)


def test_transparency_is_blended_with_black_and_told(folder: Path) -> None:
    alpha = np.full((8, 8, 1), 255, np.uint8)
    Image.fromarray(np.concatenate([IMAGES[0], alpha], axis=-1)).save(folder / "0.png")
    assert unweave.load(folder).notes == ("the alpha channel was dropped, because all pixels are opaque: 0.png",)
    assert torch.equal(unweave.load(folder).rows(ALL), unweave.load(IMAGES).rows(ALL))
    Image.new("RGBA", (8, 8), (201, 100, 0, 128)).save(folder / "1.png")
    data = unweave.load(folder)
    assert "transparent pixels blended with black: 1.png" in data.notes[1]
    assert data.rows(torch.tensor([1]))[0, :, 0, 0].tolist() == [101, 50, 0]  # 100.9 and 50.2
    Image.new("LA", (8, 8), (200, 128)).save(folder / "2.png")
    assert unweave.load(folder).rows(torch.tensor([2]))[0, :, 0, 0].tolist() == [100, 100, 100]


def test_arrays_of_four_channels_are_rgba() -> None:
    layers = np.concatenate([IMAGES, np.full((12, 8, 8, 1), 255, np.uint8)], axis=-1)
    layers[3, ..., 3] = 0
    for source in (layers, torch.from_numpy(layers).permute(0, 3, 1, 2).float() / 255):
        data = unweave.load(source)
        assert data.shape == (3, 8, 8)
        assert "four channels were read as RGBA and blended with black" in repr(data)
        assert data.rows(torch.tensor([3])).max() == 0
        assert torch.equal(data.rows(ALL[4:]), unweave.load(IMAGES).rows(ALL[4:]))
    small = np.zeros((5, 4, 4, 3), np.uint8)  # three channels, not images of three rows in RGBA
    assert unweave.load(small).shape == (3, 4, 4)


def test_what_lies_in_a_folder_and_is_not_used_is_named(folder: Path) -> None:
    (folder / "readme.txt").touch()
    (folder / ".hidden").touch()
    (folder / "train").mkdir()
    (folder / "factors.csv").write_text("x\n" + "\n".join("abcabcabcabc"))
    data = unweave.load(folder)
    assert data.notes == ("not used from the folder photos: readme.txt, train/",)
    assert repr(data) == "<photos: 12 images with factors x 3; 3×8×8>\n  note: " + data.notes[0]
    notes = unweave.load(folder, factors=FACTORS).notes
    assert notes[-1] == "the factors found with the images were not used, because factors= was given"


def test_a_frame_of_factors_has_names_and_words() -> None:
    frame = Frame(shape=["disc", "box"] * 6, x=list(range(12)))
    data = unweave.load(IMAGES, factors=frame)
    assert str(data.space) == "shape 2 · x 12"
    assert data.space.kinds == ("categorical", "ordered")
    with pytest.raises(InputError, match="the frame of factors has names for its columns: leave names= out"):
        unweave.load(IMAGES, factors=frame, names=["a", "b"])
    with pytest.raises(InputError, match="x has 2 of 12 rows, the first in row 3"):
        unweave.load(IMAGES, factors=Frame(x=[0, 1, None, None, *range(8)]))
    with pytest.raises(InputError, match="factor x has no values at all: leave the column out"):
        unweave.load(IMAGES, factors=Frame(x=[None] * 12))


def test_a_frame_can_name_the_pictures(folder: Path) -> None:
    frame = Frame(file=[f"some/where/{number}.png" for number in range(11, -1, -1)], x=list(range(12)))
    data = unweave.load(folder, factors=frame)
    assert data.labels is not None
    assert data.labels[:, 0].tolist() == list(range(11, -1, -1))


def test_continuous_factors_are_shown() -> None:
    angles = np.random.default_rng(1).uniform(size=12)
    assert repr(unweave.load(IMAGES, factors=angles, names=["angle"])) == (
        "<these images: 12 images with factors angle continuous; 3×8×8>"
    )
    both = unweave.load(IMAGES, factors=np.stack([angles, np.arange(12)], axis=1), names=["angle", "n"])
    assert "with factors angle continuous · n;" in repr(both)
    assert unweave.load(IMAGES, factors=angles, names=["a"], kinds={"a": "ordered"}).space.sizes == (12,)


def test_five_thousand_columns_are_no_trouble(tmp_path: Path) -> None:
    factors = np.random.default_rng(0).integers(0, 3, (12, 5000))
    data = unweave.load(IMAGES, factors=factors)
    assert "and 4,984 more" in repr(data)
    assert data.sample(3, torch.Generator().manual_seed(0)).images.shape == (3, 3, 8, 8)
    assert len(make_sheet(data, torch.Generator().manual_seed(0)).rows) == 2 + 32
    assert data.labels is not None
    with pytest.raises(InputError, match="5,000 factors with more than 2\\^63 points has no 64-bit positions"):
        data.images(data.labels[:1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("red,square\nblue,square\nred,round\n", "has no header: its first line is red,square"),
        ("1,2\n3,4\n", "has no header: its first line is 1,2"),
        ("\n".join(f"word{number}" for number in range(12)), "12 images and 11 rows of factors. If the first line"),
    ],
)
def test_a_table_without_a_header_loses_no_row(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        unweave.load(IMAGES, factors=tmp_path / "f.csv")


def test_own_images_are_resized_by_the_filter_that_was_asked_for(tmp_path: Path) -> None:
    Image.fromarray(IMAGES[0]).save(tmp_path / "0.png")
    np.save(tmp_path / "all.npy", IMAGES[:1])
    for filter in ("bilinear", "lanczos", "bicubic", "box"):
        small = Image.fromarray(IMAGES[0]).resize((4, 4), Image.Resampling[filter.upper()])
        for source in (tmp_path, tmp_path / "all.npy", IMAGES[:1]):
            data = unweave.load(source, size=4, filter=filter)
            assert np.array_equal(data.rows([0])[0].permute(1, 2, 0).numpy(), np.asarray(small))
    with pytest.raises(InputError, match="unknown filter of your own images 'nearest'"):
        unweave.load(tmp_path, size=4, filter="nearest")


def test_own_images_of_a_run_without_a_filter_are_means_of_blocks(tmp_path: Path) -> None:
    np.save(tmp_path / "all.npy", IMAGES)
    data = unweave.load(tmp_path / "all.npy", size=4, filter=None)
    means = IMAGES.reshape(12, 4, 2, 4, 2, 3).mean((2, 4))
    assert np.array_equal(data.rows(ALL).permute(0, 2, 3, 1).numpy(), np.floor(means + 0.5))
    assert data.identity.source is not None
    stored = {key: value for key, value in data.identity.source["options"].items() if key != "filter"}
    before = data.identity.model_copy(update={"source": {**data.identity.source, "options": stored}})
    assert torch.equal(unweave.data.open_data(before).rows(ALL), data.rows(ALL))
