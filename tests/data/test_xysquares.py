from __future__ import annotations

import zlib

import numpy as np
import pytest
import torch

import unweave
from unweave.errors import InputError


def drawn_by_hand(factors: list[int], *, size: int, square: int, spacing: int, grid: int) -> torch.Tensor:
    image = torch.zeros(3, size, size, dtype=torch.uint8)
    offset = (size - square - (grid - 1) * spacing) // 2
    for number in range(len(factors) // 2):
        left, top = (offset + spacing * place for place in factors[2 * number : 2 * number + 2])
        image[number % 3, top : top + square, left : left + square] = 255
    return image


@pytest.mark.parametrize(
    ("options", "square", "spacing", "grid"),
    [
        ({}, 8, 8, 8),
        ({"spacing": 1}, 8, 1, 8),
        ({"spacing": 5}, 8, 5, 8),
        ({"size": 32}, 4, 4, 8),
        ({"size": 50, "square": 7, "spacing": 3, "grid": 5, "squares": 5}, 7, 3, 5),
        ({"squares": 1}, 8, 8, 8),
    ],
)
def test_squares_are_where_their_factors_say(
    options: dict[str, int], square: int, spacing: int, grid: int, generator: torch.Generator
) -> None:
    data = unweave.load("xysquares", **options)
    assert len(data.space) == 2 * options.get("squares", 3)
    factors = data.space.sample(20, generator)
    expected = [
        drawn_by_hand(row, size=options.get("size", 64), square=square, spacing=spacing, grid=grid)
        for row in factors.tolist()
    ]
    assert torch.equal(data.images(factors), torch.stack(expected))


def test_grey_squares_are_those_of_disent() -> None:
    """CRC-32 of 50 evenly spaced images of XYSquaresData(rgb=False) of disent 0.8.0; others keep their identity."""
    data = unweave.load("xysquares", grey=True)
    assert data.shape == (1, 64, 64)
    images = data.rows(torch.from_numpy(np.linspace(0, data.num_images - 1, 50).astype(int)))
    assert zlib.crc32(images.numpy().tobytes()) == 1814193350
    assert data.identity.options["grey"] is True
    assert "grey" not in unweave.load("xysquares").identity.options


def test_the_whole_set_has_8_to_the_6_images() -> None:
    assert unweave.load("xysquares").num_images == 262_144


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"spacing": 9}, "need 71 pixels, but size is 64"),
        ({"squares": 0}, "squares must be a whole number of at least 1"),
        ({"spacing": 1.5}, "spacing must be a valid integer"),
        ({"size": 4}, "at least 8 and of at most 4096"),
        ({"size": "64"}, "size in pixels must be a whole number"),
    ],
)
def test_squares_that_do_not_fit_are_refused(options: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        unweave.load("xysquares", **options)
