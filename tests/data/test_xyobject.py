from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
import torch

import unweave
from unweave.errors import InputError

SMALL = {"size": 32, "palette": "rgb", "intensities": 2}


@pytest.mark.parametrize(
    ("name", "options", "sizes", "checksum"),
    [
        ("xyobject", {}, (25, 25, 5, 24), 679596577),
        ("xyobject_shaded", {}, (25, 25, 5, 4, 6), 679596577),
        ("xyobject", SMALL, (26, 26, 5, 6), 1163649968),
    ],
)
def test_images_and_factors_are_those_of_disent(
    name: str, options: dict[str, Any], sizes: tuple[int, ...], checksum: int
) -> None:
    """CRC-32 of 50 evenly spaced images of XYObjectData and XYObjectShadedData of disent 0.8.0.

    The third is XYObjectData(grid_size=32, min_square_size=3, max_square_size=7, square_size_spacing=1, grid_spacing=1,
    palette="rgb_2").
    """
    data = unweave.load(name, **options)
    assert data.space.sizes == sizes
    images = data.rows(torch.from_numpy(np.linspace(0, data.num_images - 1, 50).astype(int)))
    assert zlib.crc32(images.numpy().tobytes()) == checksum


def test_both_sets_have_the_same_images_at_the_same_positions(generator: torch.Generator) -> None:
    one, two = (unweave.load(name, size=16) for name in ("xyobject", "xyobject_shaded"))
    index = torch.randint(one.num_images, (200,), generator=generator)
    assert one.num_images == two.num_images
    assert torch.equal(one.rows(index), two.rows(index))


def test_impossible_options() -> None:
    with pytest.raises(InputError, match="palette must be 'rainbow'"):
        unweave.load("xyobject", palette="rainbows")
    with pytest.raises(InputError, match="smallest ≤ largest ≤ size"):
        unweave.load("xyobject", smallest=20, largest=10)
