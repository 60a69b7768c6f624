"""Rows of images below one another, each with a label: the layout of sheets, reconstructions and traversals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from unweave.errors import extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAP = 3  # pixels between images at 64 × 64, of which one is the border
BORDER = 190  # grey around each image, so that white images have an edge
LABEL, WIDTH = 1.3, 9.0  # inches
CAPTION, GAP_BELOW = 0.16, 0.04  # inches above and below a row
TALLEST = 2.2  # inches of one row, so that few images do not fill a page
FITTING = 18  # characters of a label at the usual size
GREY = "#8a8a8a"
TITLE = 100  # characters that fit into the width at the usual size


def draw_strips(
    title: str,
    rows: Sequence[tuple[str, Tensor]],
    *,
    captions: Sequence[Sequence[str] | None] | None = None,
    note: str = "",
    grey: Sequence[bool] = (),
    footer: str = "",
) -> Figure:
    """Draw one row of images (n, C, H, W) uint8 per label and return the matplotlib figure.

    ``captions`` are texts above the images of each row, None for a row without; ``note`` is a line below the title,
    ``footer`` one below the rows. Rows that are marked ``grey`` have a grey label.
    """
    extra("matplotlib", "figures")
    from matplotlib.figure import Figure

    pages = [_strip(images) for _, images in rows]
    pixel = min(WIDTH / max(page.shape[1] for page in pages), TALLEST / pages[0].shape[0])  # inches
    heights = [pixel * page.shape[0] for page in pages]
    above = [CAPTION if texts else 0.0 for texts in captions or [None] * len(rows)]
    head = 0.42 + (0.22 if note else 0.0)
    foot = 0.06 + (0.22 if footer else 0.0)
    height = head + sum(heights) + sum(above) + len(rows) * GAP_BELOW + foot
    figure = Figure(figsize=(LABEL + WIDTH + 0.1, height), dpi=150)
    total_width, total_height = figure.get_size_inches()
    size = 11 * min(1.0, TITLE / max(1, len(title)))
    figure.text(LABEL / total_width, 1 - 0.08 / total_height, title, fontsize=size, ha="left", va="top")
    if note:
        figure.text(LABEL / total_width, 1 - 0.34 / total_height, note, fontsize=8, ha="left", va="top", color="#a33")
    if footer:
        figure.text(LABEL / total_width, 0.08 / total_height, footer, fontsize=8, ha="left", va="bottom")
    top = total_height - head
    for number, ((name, images), page, strip) in enumerate(zip(rows, pages, heights, strict=True)):
        top -= above[number]
        across = pixel * page.shape[1]
        frame = (LABEL / total_width, (top - strip) / total_height, across / total_width, strip / total_height)
        axes = figure.add_axes(frame)
        axes.imshow(page.numpy(), interpolation="nearest", aspect="auto")
        axes.set_axis_off()
        where = ((LABEL - 0.08) / total_width, (top - strip / 2) / total_height)
        color = GREY if number < len(grey) and grey[number] else "black"
        figure.text(*where, name, fontsize=9 if len(name) <= FITTING else 7, ha="right", va="center", color=color)
        for column, text in enumerate((captions[number] if captions else None) or ()):
            x = LABEL + across * (column + 0.5) / len(images)
            figure.text(x / total_width, (top + 0.02) / total_height, text, fontsize=6, ha="center", va="bottom")
        top -= strip + GAP_BELOW
    return figure


def to_bytes(images: Tensor) -> Tensor:
    """Convert images in [0, 1] to uint8."""
    return (images * 255).round().clamp(0, 255).to(torch.uint8)


def in_colour(images: Tensor) -> Tensor:
    """Return images (n, C, H, W) uint8 with three channels; other numbers of channels than 1 and 3 are averaged."""
    if images.shape[1] not in (1, 3):
        images = images.float().mean(1, keepdim=True).round().to(torch.uint8)
    return images.expand(-1, 3, -1, -1)


def _strip(images: Tensor) -> Tensor:
    """Return images (n, C, H, W) side by side, each with a grey border: (H + 2, n · (W + gap), 3)."""
    bordered = torch.nn.functional.pad(in_colour(images), (1, 1, 1, 1), value=BORDER)
    padded = torch.nn.functional.pad(bordered, (0, max(0, GAP * images.shape[-1] // 64 - 1)), value=255)
    return padded.permute(2, 0, 3, 1).reshape(padded.shape[2], -1, 3)
