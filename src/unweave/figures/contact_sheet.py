"""A contact sheet: what a data set looks like at random, and along each of its factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.figures.strips import draw_strips

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_STEPS = 16  # of a traversal


@dataclass(frozen=True)
class Sheet:
    """Rows of images (n, C, H, W) uint8, each with its label."""

    title: str
    rows: tuple[tuple[str, Tensor], ...]


def make_sheet(data: FactorData, generator: torch.Generator, *, columns: int = MOST_STEPS) -> Sheet:
    """Two rows of random images; then, through one random point, a traversal of each factor, evenly thinned."""
    random = data.sample(2 * columns, generator).images
    rows = [("random", random[:columns]), ("", random[columns:])]
    if data.has_factors:
        drawn = data.sample(1, generator).factors  # a point that exists, also where the table does not fill its grid
        assert drawn is not None
        for axis, name in enumerate(data.space.names):
            line = data.space.traverse(drawn[0], axis)
            line = line[data.exist(line)]
            steps = torch.linspace(0, len(line) - 1, min(len(line), columns)).round().long()
            rows.append((name, data.images(line[steps], generator)))
    return Sheet(data.name, tuple(rows))


def draw_contact_sheet(sheet: Sheet) -> Figure:
    """A matplotlib figure of the sheet, a row a line."""
    return draw_strips(sheet.title, sheet.rows)
