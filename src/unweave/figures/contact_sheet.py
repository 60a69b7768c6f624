"""A contact sheet: what a data set looks like at random, and along each of its factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.figures.drawing.strips import draw_strips
from unweave.names import spelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_STEPS = 16  # images of a traversal
MOST_FACTORS = 32  # traversals on a sheet


@dataclass(frozen=True)
class Sheet:
    """Rows of images (n, C, H, W) uint8, each with its label."""

    title: str
    rows: tuple[tuple[str, Tensor], ...]


def make_sheet(data: FactorData, generator: torch.Generator, *, columns: int = MOST_STEPS) -> Sheet:
    """Make two rows of random images, then a traversal of each factor through one random point.

    A traversal has at most ``columns`` images, evenly spaced. A grid too large for positions has no traversals.
    """
    random = data.sample(2 * columns, generator).images
    rows = [("random", random[:columns]), ("", random[columns:])]
    if data.has_factors and data.space.has_positions:
        drawn = data.sample(1, generator).factors  # a point that has an image
        assert drawn is not None
        for axis, name in enumerate(data.space.names[:MOST_FACTORS]):
            line = data.space.traverse(drawn[0], axis)
            line = line[data.exist(line)]
            steps = torch.linspace(0, len(line) - 1, min(len(line), columns)).round().long()
            rows.append((name, data.images(line[steps], generator)))
    return Sheet(spelled(data.name), tuple(rows))


def make_order(data: FactorData, generator: torch.Generator, *, columns: int = MOST_STEPS) -> Sheet:
    """Make a row of the first images of the grid, then a traversal of each factor through the middle of the grid.

    Where the file was read in the right order, the last factor changes along the first row, and along each other row
    the factor that it is named after, and no other.
    """
    rows = [("first images", data.rows(torch.arange(min(columns, data.num_images)), generator))]
    point = torch.tensor([size // 2 for size in data.space.sizes])
    if not data.can_intervene:  # the middle may have no image
        drawn = data.sample(1, generator).factors
        assert drawn is not None
        point = drawn[0]
    for axis, (name, size) in enumerate(zip(data.space.names, data.space.sizes, strict=True)):
        line = data.space.traverse(point, axis)
        line = line[data.exist(line)]
        steps = torch.linspace(0, len(line) - 1, min(len(line), columns)).round().long()
        rows.append((f"{name} 0 to {size - 1}", data.images(line[steps], generator)))
    return Sheet(f"{spelled(data.name)}: the order of its factors, the last varies fastest", tuple(rows))


def draw_contact_sheet(sheet: Sheet) -> Figure:
    """Draw one line per row of the sheet and return the matplotlib figure."""
    return draw_strips(sheet.title, sheet.rows)
