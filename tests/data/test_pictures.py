from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from unweave.data.files.pictures import Filter, named_filter, picture_files, read_picture, resize
from unweave.errors import InputError

FILTERS: tuple[Filter, ...] = ("bilinear", "lanczos", "bicubic", "box")


def test_numbers_in_names_count_by_value(tmp_path: Path) -> None:
    for name in ("b2.png", "b10.png", "a.png", "b1.JPG", "notes.txt"):
        (tmp_path / name).touch()
    (tmp_path / "folder.png").mkdir()
    assert [path.name for path in picture_files(tmp_path)] == ["a.png", "b1.JPG", "b2.png", "b10.png"]


def test_sixteen_bits_become_eight(tmp_path: Path) -> None:
    deep = np.array([[0, 257, 32896, 65535]], np.uint16)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    assert read_picture(tmp_path / "deep.png")[..., 0].tolist() == [[0, 1, 128, 255]]
    assert read_picture(tmp_path / "deep.png", "grey")[..., 0].tolist() == [[0, 1, 128, 255]]


def test_colours_stay_unless_grey_is_asked_for(tmp_path: Path) -> None:
    Image.new("RGBA", (2, 2), (255, 0, 0, 255)).save(tmp_path / "red.png")
    assert read_picture(tmp_path / "red.png")[0, 0].tolist() == [255, 0, 0]
    assert read_picture(tmp_path / "red.png", "grey")[0, 0].tolist() == [76]
    Image.new("1", (2, 2), 1).save(tmp_path / "bit.png")
    assert read_picture(tmp_path / "bit.png").max() == 255


def test_what_is_no_picture_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text.png").write_text("hello")
    Image.new("L", (50, 50)).save(tmp_path / "whole.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "whole.png").read_bytes()[:60])
    for name in ("text.png", "cut.png"):
        with pytest.raises(InputError, match=f"{name} cannot be read as a picture"):
            read_picture(tmp_path / name)
    Image.fromarray(np.zeros((2, 2), np.float32)).save(tmp_path / "float.tiff")
    with pytest.raises(InputError, match="32-bit float pixels of unknown range: save it with 8 or 16 bits"):
        read_picture(tmp_path / "float.tiff")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(InputError, match="too large"):
        read_picture(tmp_path / "whole.png")
    with pytest.raises(InputError, match="must be a path, got 3"):
        picture_files(3)  # type: ignore[arg-type]


def noise(height: int, width: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(height)
    return torch.randint(256, (2, 3, height, width), dtype=torch.uint8, generator=generator)


def test_the_same_size_is_the_same_tensor() -> None:
    images = noise(16, 16)
    assert resize(images, 16, "lanczos") is images


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize(
    ("height", "width", "size"), [(128, 128, 64), (96, 96, 64), (64, 64, 48), (10, 10, 15), (17, 40, 5), (8, 21, 8)]
)
def test_every_filter_has_the_bytes_of_pillow(filter: Filter, height: int, width: int, size: int) -> None:
    images = noise(height, width)
    small = resize(images, size, filter)
    assert small.is_contiguous()
    for image, mine in zip(images, small, strict=True):
        picture = Image.fromarray(image.permute(1, 2, 0).numpy())
        expected = picture.resize((size, size), Image.Resampling[filter.upper()])
        assert np.array_equal(mine.permute(1, 2, 0).numpy(), np.asarray(expected))


def test_bilinear_halves_with_a_triangle_four_pixels_wide() -> None:
    line = torch.tensor([0, 0, 0, 80, 160, 240, 240, 240], dtype=torch.uint8)
    small = resize(line.expand(1, 1, 8, 8).clone(), 4)[0, 0, 1]
    # weights 1, 3, 3, 1 eighths around each pair; at the edges the part outside is left out: 3, 3, 1 sevenths
    assert small.tolist() == [0, round((0 + 3 * 0 + 3 * 80 + 160) / 8), round((80 + 3 * 160 + 3 * 240 + 240) / 8), 240]


def test_without_a_filter_blocks_are_averaged_where_they_fit() -> None:
    images = noise(12, 12)
    blocks = images.double().view(2, 3, 4, 3, 4, 3).mean((3, 5))
    assert torch.equal(resize(images, 4, None), (blocks + 0.5).floor().byte())
    assert (resize(images, 4, None).int() - resize(images, 4, "box").int()).abs().max() <= 1
    assert torch.equal(resize(images, 8, None), resize(images, 8, "bilinear"))


@pytest.mark.parametrize(
    ("filter", "pixels", "size", "expected"),
    [
        ("bilinear", 128, 64, "bilinear"),  # earlier versions averaged blocks
        ("bilinear", 96, 64, None),  # as earlier versions did
        ("bilinear", 64, 128, None),
        ("box", 128, 64, "box"),  # differs from means of blocks by rounding
        ("lanczos", 96, 64, "lanczos"),
        ("lanczos", 64, 64, None),  # nothing is reduced
        (None, 128, 64, None),
    ],
)
def test_a_filter_is_named_where_images_differ_from_those_of_earlier_versions(
    filter: Filter | None, pixels: int, size: int, expected: Filter | None
) -> None:
    assert named_filter(filter, pixels, size) == expected
