"""Rows of images below one another, each with a label: the layout of sheets, reconstructions and traversals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from unweave.errors import extra
from unweave.figures.drawing.panels import PAGE, PAGE_HEIGHT, SHRUNK, SMALL, TEXT
from unweave.figures.drawing.style import INACTIVE
from unweave.figures.drawing.texts import Labels, text_height, text_width, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure


GAP = 3  # pixels between images at 64 × 64, of which one is the border
BORDER = 190  # grey around each image, so that white images have an edge
LABEL, MARGIN = 1.1, 0.1  # inches to the left and to the right of the images
WIDTH = PAGE - LABEL - MARGIN
LINE, GAP_BELOW = 0.13, 0.05  # inches of a line of captions, and below a row
TALLEST = 2.2  # inches of one row, so that few images do not fill a page
DPI = 220


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

    Args:
        title: The title of the figure.
        rows: The label and the images of each row.
        captions: Texts above the images of each row, None for a row without.
        note: A line below the title.
        grey: Whether the label of each row is grey; by default none is.
        footer: A line below the rows.

    Returns:
        The matplotlib figure.
    """
    extra("matplotlib", "figures")
    from matplotlib.figure import Figure

    pages = [_strip(images) for _, images in rows]
    pixel = min(WIDTH / max(page.shape[1] for page in pages), TALLEST / pages[0].shape[0])  # inches
    texts = [list(row or ()) for row in captions or [None] * len(rows)]
    labels = Labels()
    lines = max(1, int(pixel * SHRUNK * pages[0].shape[0] / text_height(1, SMALL)))  # of a label
    names = [labels.fit(name, LABEL - 0.15, SMALL, lines) for name, _ in rows]
    footer = "\n".join(text for text in (footer, labels.caption) if text)
    above = [0.03 + LINE * max(text.count("\n") + 1 for text in row) if row else 0.0 for row in texts]
    title, note, footer = (
        "\n".join(wrapped(text, PAGE - 2 * MARGIN, size)) if text else ""
        for text, size in ((title, TEXT + 1), (note, SMALL), (footer, SMALL))
    )
    head = 0.2 + 0.16 * title.count("\n") + (0.06 + 0.14 * (note.count("\n") + 1) if note else 0.0) + 0.08
    foot = 0.06 + (0.06 + 0.14 * (footer.count("\n") + 1) if footer else 0.0)
    rest = head + sum(above) + len(rows) * GAP_BELOW + foot
    pixel = max(SHRUNK * pixel, min(pixel, (PAGE_HEIGHT - rest) / sum(page.shape[0] for page in pages)))
    heights = [pixel * page.shape[0] for page in pages]
    height = sum(heights) + rest
    figure = Figure(figsize=(PAGE, height), dpi=DPI)

    def write(x: float, y: float, text: str, size: float, **look: Any) -> None:
        figure.text(x / PAGE, y / height, text, fontsize=size, **look)

    write(0.05, height - 0.05, title, TEXT + 1, ha="left", va="top")
    if note:
        write(0.05, height - 0.24 - 0.16 * title.count("\n"), note, SMALL, ha="left", va="top", color="#a33")
    if footer:
        write(0.05, 0.05, footer, SMALL, ha="left", va="bottom")
    top = height - head
    for number, ((_, images), page, strip) in enumerate(zip(rows, pages, heights, strict=True)):
        top -= above[number]
        across = pixel * page.shape[1]
        axes = figure.add_axes((LABEL / PAGE, (top - strip) / height, across / PAGE, strip / height))
        axes.imshow(page.numpy(), interpolation="nearest", aspect="auto")
        axes.set_axis_off()
        color = INACTIVE if number < len(grey) and grey[number] else "black"
        name = names[number]
        fits = all(text_width(line, TEXT) <= LABEL - 0.15 for line in name.split("\n"))
        fits = fits and text_height(name.count("\n") + 1, TEXT) <= strip
        write(LABEL - 0.07, top - strip / 2, name, TEXT if fits else SMALL, ha="right", va="center", color=color)
        every = _every(texts[number], across / len(images))
        for column, text in enumerate(texts[number]):
            if column % every == 0:
                x = LABEL + across * (column + 0.5) / len(images)
                write(x, top + 0.02, text, SMALL, ha="center", va="bottom", linespacing=1.1)
        top -= strip + GAP_BELOW
    return figure


def _every(texts: Sequence[str], room: float) -> int:
    """Return n such that every n-th caption fits above its image, which is ``room`` inches wide."""
    longest = max((text_width(line, SMALL) for text in texts for line in text.split("\n")), default=0.0)
    return max(1, math.ceil((longest + 0.03) / room))


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


def mosaic(images: Tensor, *, gap: int = 1) -> Any:
    """Return images (rows, columns, C, H, W) uint8 as one numpy array (rows · (H + 2 + gap), …, 3).

    Every image has a grey border of one pixel and ``gap`` white pixels around it on the right and below, so that rows
    and columns have the same height and width.
    """
    rows, columns = images.shape[:2]
    bordered = torch.nn.functional.pad(in_colour(images.flatten(0, 1)), (1, 1, 1, 1), value=BORDER)
    padded = torch.nn.functional.pad(bordered, (0, gap, 0, gap), value=255)
    height, width = padded.shape[-2:]
    page = padded.unflatten(0, (rows, columns)).permute(0, 3, 1, 4, 2)  # (rows, H, columns, W, 3)
    return page.reshape(rows * height, columns * width, 3).numpy()
