from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from unweave.data.files.resize import Filter, named_filter, resize

FILTERS: tuple[Filter, ...] = ("bilinear", "lanczos", "bicubic", "box")


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
