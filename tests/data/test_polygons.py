from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unweave.data._geometry import fill, snap

coordinates = st.integers(-300, 8 * 256 + 300)
polygons = st.lists(st.tuples(coordinates, coordinates), min_size=3, max_size=9)


def inside(polygon: list[tuple[int, int]], x: int, y: int) -> bool:
    """Cross edges from the left, one at a time, in whole numbers: left and bottom edges belong to the inside."""
    crossings = 0
    for (x0, y0), (x1, y1) in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        if min(y0, y1) < y <= max(y0, y1):
            run, rise = (x1 - x0, y1 - y0) if y1 > y0 else (x0 - x1, y0 - y1)
            crossings += (x - x0) * rise >= (y - y0) * run
    return crossings % 2 == 1


@given(polygons)
def test_filling_agrees_with_a_loop_over_pixels_and_edges(polygon: list[tuple[int, int]]) -> None:
    expected = [[inside(polygon, 256 * c + 128, 256 * r + 128) for c in range(8)] for r in range(8)]
    assert fill(torch.tensor([polygon]), 8)[0].bool().tolist() == expected


def test_centres_on_left_and_bottom_edges_are_inside() -> None:
    square = torch.tensor([[1.5, 1.5], [4.5, 1.5], [4.5, 4.5], [1.5, 4.5]])  # pixel centres 1 and 4
    lit = fill(snap(square)[None], 6)[0].nonzero().tolist()
    assert lit == [[row, column] for row in (2, 3, 4) for column in (1, 2, 3)]


def test_a_large_circle_has_its_area() -> None:
    angle = torch.arange(1000) * (2 * math.pi / 1000)
    circle = torch.stack([64 + 50 * angle.cos(), 64 + 50 * angle.sin()], dim=-1)
    assert fill(snap(circle)[None], 128).sum() == pytest.approx(math.pi * 50**2, rel=2e-3)


def test_no_polygons_give_no_images() -> None:
    assert fill(torch.zeros(0, 4, 2, dtype=torch.int64), 8).shape == (0, 8, 8)
