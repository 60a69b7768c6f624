"""A contact sheet: what a data set looks like at random, and along each of its factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAP = 2  # pixels between images at 64 × 64
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
    extra("matplotlib", "figures")
    from matplotlib.figure import Figure

    strips = [_strip(images) for _, images in sheet.rows]
    width = max(strip.shape[1] for strip in strips)
    strips = [torch.cat([s, s.new_full((s.shape[0], width - s.shape[1], 3), 255)], dim=1) for s in strips]
    page = torch.cat(strips).numpy()
    label = 1.3  # inches at the left
    figure = Figure(figsize=(label + 9, 9 * page.shape[0] / page.shape[1] + 0.4), dpi=150)
    left, top = label / figure.get_figwidth(), 1 - 0.35 / figure.get_figheight()
    axes = figure.add_axes((left, 0.05 / figure.get_figheight(), 0.99 - left, top - 0.05 / figure.get_figheight()))
    axes.imshow(page, interpolation="nearest", aspect="equal")
    axes.set_axis_off()
    height = strips[0].shape[0]
    for row, (name, _) in enumerate(sheet.rows):
        axes.text(-0.006 * width, (row + 0.5) * height, name, ha="right", va="center", fontsize=9)
    axes.set_title(sheet.title, fontsize=11, loc="left")
    return figure


def _strip(images: Tensor) -> Tensor:
    """Images (n, C, H, W) side by side with white gaps: (H + gap, n · (W + gap), 3)."""
    gap = max(1, GAP * images.shape[-1] // 64)
    padded = torch.nn.functional.pad(images.expand(-1, 3, -1, -1), (0, gap, 0, gap), value=255)
    return padded.permute(2, 0, 3, 1).reshape(padded.shape[2], -1, 3)
