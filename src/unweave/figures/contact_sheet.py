"""A contact sheet: what a data set looks like at random, and along each of its factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.data.files.factor_tables import Table
from unweave.figures.drawing.strips import draw_strips
from unweave.latents.latent import evenly
from unweave.names import spelled, words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_STEPS = 16  # images of a traversal
PER_VALUE = 4  # images of one value of a factor, at least if there are that many
MOST_FACTORS = 32  # traversals on a sheet


@dataclass(frozen=True)
class Sheet:
    """Rows of images (n, C, H, W) uint8, each with its label.

    Examples:
        >>> import torch
        >>> import unweave
        >>> from unweave.figures import make_sheet
        >>> data = unweave.load("xysquares", size=16, square=2)
        >>> sheet = make_sheet(data, torch.Generator().manual_seed(0), columns=4)
        >>> [label for label, images in sheet.rows]
        ['random', '', 'x0', 'y0', 'x1', 'y1', 'x2', 'y2']
    """

    title: str
    rows: tuple[tuple[str, Tensor], ...]
    captions: tuple[tuple[str, ...] | None, ...] = ()  # texts above the images of each row


def make_sheet(data: FactorData, generator: torch.Generator, *, columns: int = MOST_STEPS) -> Sheet:
    """Make two rows of random images, then a traversal of each factor through one random point.

    A traversal has at most ``columns`` images, evenly spaced. A grid too large for positions has no traversals. A table
    of images that does not fill its grid has several images per value of each factor instead, with the value above.

    Examples:
        >>> import torch
        >>> import unweave
        >>> from unweave.figures import make_sheet
        >>> data = unweave.load("xysquares", size=16, square=2)
        >>> sheet = make_sheet(data, torch.Generator().manual_seed(0), columns=4)
        >>> len(sheet.rows), sheet.rows[0][1].shape
        (8, torch.Size([4, 3, 16, 16]))
    """
    random = data.sample(2 * columns, generator).images
    rows = [("random", random[:columns]), ("", random[columns:])]
    if data.labels is not None and data.factor_names and not data.can_intervene:
        by_value = [_by_value(data, axis, generator, columns) for axis in range(len(data.factor_names[:MOST_FACTORS]))]
        named = zip(data.factor_names, by_value, strict=False)
        rows += [(words(name), images) for name, (images, _) in named]
        return Sheet(spelled(data.name), tuple(rows), (None, None, *(captions for _, captions in by_value)))
    if data.has_factors and data.space.has_positions:
        drawn = data.sample(1, generator).factors  # a point that has an image
        assert drawn is not None
        for axis, name in enumerate(data.space.names[:MOST_FACTORS]):
            rows.append((words(name), _along(data, drawn[0], axis, generator, columns)))
    return Sheet(spelled(data.name), tuple(rows))


def _along(data: FactorData, point: Tensor, axis: int, generator: torch.Generator, columns: int) -> Tensor:
    """Return at most ``columns`` images of a traversal of one factor through a point, evenly spaced."""
    line = data.space.traverse(point, axis)
    line = line[data.exist(line)]
    return data.images(line[evenly(len(line), columns)], generator)


def _by_value(data: FactorData, axis: int, generator: torch.Generator, columns: int) -> tuple[Tensor, tuple[str, ...]]:
    """Return several images for each of some values of a factor, and the value above the first of each."""
    assert data.labels is not None
    column = data.labels[:, axis]
    values = column[~column.isnan()].unique()  # sorted
    shown = values[evenly(len(values), max(2, columns // PER_VALUE))]
    each = columns // len(shown)
    table: Table | None = getattr(data, "table", None)
    rows: list[Tensor] = []
    captions: list[str] = []
    for value in shown.unique():
        found = (column == value).nonzero()[:, 0]
        chosen = found[torch.randperm(len(found), generator=generator)[:each]]
        rows.append(chosen)
        captions += [_value_name(table, axis, float(value)), *[""] * (len(chosen) - 1)]
    return data.rows(torch.cat(rows), generator), tuple(captions)


def _value_name(table: Table | None, axis: int, value: float) -> str:
    """Return a value as it was given: a word, or a number."""
    name = None if table is None else table.names[axis]
    if table is None or name is None or (table.space is None and name not in table.words):
        return f"{value:.3g}"
    given = table.values[name][int(value)]
    return str(given) if table.values[name].dtype.kind == "U" else f"{float(given):.4g}"


def make_order(data: FactorData, generator: torch.Generator, *, columns: int = MOST_STEPS) -> Sheet:
    """Make a row of the first images of the grid, then a traversal of each factor through one point of the grid.

    Where the file was read in the right order, the last factor changes along the first row, and along each other row
    the factor that it is named after, and no other. Factors differ at the point, so that hues can be told apart.
    """
    rows = [("first images", data.rows(torch.arange(min(columns, data.num_images)), generator))]
    sizes = data.space.sizes
    point = torch.tensor([size * (axis + 1) // (len(sizes) + 1) for axis, size in enumerate(sizes)])
    if not data.can_intervene:  # the point may have no image
        drawn = data.sample(1, generator).factors
        assert drawn is not None
        point = drawn[0]
    for axis, (name, size) in enumerate(zip(data.space.names, sizes, strict=True)):
        rows.append((f"{words(name)} 0 to {size - 1}", _along(data, point, axis, generator, columns)))
    return Sheet(f"{spelled(data.name)}: the order of its factors, the last varies fastest", tuple(rows))


def draw_contact_sheet(sheet: Sheet) -> Figure:
    """Draw one line per row of the sheet and return the matplotlib figure.

    Examples:
        >>> import torch
        >>> import unweave
        >>> from unweave.figures import draw_contact_sheet, make_sheet
        >>> data = unweave.load("xysquares", size=16, square=2)
        >>> draw_contact_sheet(make_sheet(data, torch.Generator().manual_seed(0))).savefig("sheet.png")
    """
    return draw_strips(sheet.title, sheet.rows, captions=sheet.captions or None)
