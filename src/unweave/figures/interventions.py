"""Latent interventions on several images beside the mutual information with factors (Hsu et al. 2024, fig. 7 to 10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import whole
from unweave.figures.drawing.panels import PAGE, PAGE_HEIGHT, SMALL, TEXT, add_scale
from unweave.figures.drawing.strips import mosaic
from unweave.figures.drawing.style import INACTIVE, heat_map, new_page
from unweave.figures.drawing.subjects import latent_values, title_of
from unweave.figures.drawing.texts import Labels, text_height, text_width, wrapped
from unweave.figures.mutual_information import ABOVE_CHANCE, Information, information_map
from unweave.figures.traversals import Inactive, Traversals, traversals_from
from unweave.names import words
from unweave.representation import Over, Representation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS = 5  # values of each latent
CANDIDATES = 12  # random images for each one that is shown
MARGIN, GAP, APART = 0.08, 0.1, 0.09  # inches: around the figure, beside the images, between groups of latents
MAP, WIDEST, NARROWEST = 1.6, 0.27, 0.13  # inches of the heat map and of one factor in it
NUMBERED = 0.22  # inches of a factor from which values are written into cells
LONGEST = 1.1  # inches of the name of a factor
BELOW = 0.48  # inches of the colour scale with its label
BETWEEN = 0.3  # of an image, between two start images
TOUCHING = 0.02  # inches between latents of the same group


@dataclass(frozen=True)
class Interventions:
    """The traversals of several images, and the information of the same latents about the factors."""

    traversals: Traversals
    information: Information


def make_interventions(
    run: Representation,
    data: FactorData,
    generator: torch.Generator,
    *,
    starts: int = 2,
    steps: int | None = STEPS,
    over: Over = "auto",
    span: float = 2.0,
    inactive: Inactive = "drop",
    samples: int = 5_000,
    most: int | None = None,
) -> Interventions:
    """Move each latent of ``starts`` images, and compute the information from ``samples`` images.

    The start images are those of a dozen times as many random ones that have the strongest edges and differ most.
    Latents that tell most about the same factor stand together, in the order of the factors, the most informative of
    them first.

    Args:
        run: The run whose latents are moved.
        data: The data set to draw images from.
        generator: The source of randomness.
        starts: The number of images to start from.
        steps: The number of values; None is the default of :func:`make_traversals`, such as every level.
        over: The range of the values, as in :meth:`Run.traversal_values`; the figures of the paper have 30 values over
            the range of a latent: ``steps=30`` and ``over="quantile"``, from its 1 % to its 99 % quantile.
        span: The number of standard deviations for ``over="prior"``.
        inactive: Whether inactive latents are dropped as in the paper, or marked, or shown.
        samples: The number of images that the information is computed from.
        most: The largest number of latents, by default all; the most informative are kept.

    Returns:
        The images, and the information of each latent about each factor.
    """
    images = _telling(data.sample(CANDIDATES * whole("starts", starts, at_least=1), generator).images, starts)
    moved = traversals_from(run, data, images, steps=steps, over=over, span=span, inactive=inactive, most=most)
    information = information_map(run, data, samples=samples)
    known = {latent: information.matrix[:, place] for place, latent in enumerate(information.latents)}
    order = sorted(range(len(moved.latents)), key=lambda place: _rank(known[moved.latents[place]]))
    title = title_of(run, latent_values(run, steps=steps, over=over, span=span)[1], data)
    moved = _reordered(moved, order, title)
    matrix = np.stack([known[latent] for latent in moved.latents], axis=1)
    return Interventions(moved, Information("", matrix, information.factors, moved.latents, moved.inactive))


def _telling(images: Tensor, count: int) -> Tensor:
    """Return ``count`` of the images (n, C, H, W), with strong edges and different from one another."""
    pixels = images.double()
    edges = sum(pixels.diff(dim=side).abs().mean((1, 2, 3)) for side in (2, 3))
    nearest = torch.ones(len(images), dtype=torch.float64)
    chosen: list[int] = []
    for _ in range(count):
        chosen.append(int((edges * nearest).argmax()))
        distances = (pixels - pixels[chosen[-1]]).square().mean((1, 2, 3)).sqrt()
        nearest = distances if len(chosen) == 1 else nearest.minimum(distances)
    return images[chosen]


def _rank(told: Any) -> tuple[int, float]:
    """Return the factor that a latent tells most about, and its information, largest first."""
    factor = int(np.argmax(told))
    return factor, -float(told[factor])


def _reordered(moved: Traversals, order: list[int], title: str) -> Traversals:
    rows = [place * moved.starts + start for place in order for start in range(moved.starts)]
    return Traversals(
        title,
        tuple(moved.rows[row] for row in rows),
        tuple(moved.values[row] for row in rows),
        moved.note,
        tuple(moved.latents[place] for place in order),
        tuple(moved.inactive[place] for place in order),
        moved.starts,
    )


def draw_interventions(result: Interventions) -> Figure:
    """Draw one row per latent, its images and then its row of the heat map; return the matplotlib figure.

    Start images stand side by side, or one below the other where images would otherwise be too small. Groups of
    latents that tell most about the same factor are set apart.
    """
    moved, information = result.traversals, result.information
    latents, starts = len(moved.latents), moved.starts
    strips = torch.stack([strip for _, strip in moved.rows]).unflatten(0, (latents, starts))
    factors, shortened = information.factors, Labels()
    cell = max(NARROWEST, min(WIDEST, MAP / len(factors)))
    headers = [shortened.fit(words(factor), LONGEST, SMALL) for factor in factors]
    names = [f"z{latent}" for latent in moved.latents]
    left = MARGIN + max(text_width(name, TEXT) for name in names) + 0.07
    room = PAGE - MARGIN - GAP - cell * len(factors) - left
    title = wrapped(moved.title, PAGE - 2 * MARGIN, TEXT + 1)
    caption = wrapped(_caption(moved, shortened), PAGE - 2 * MARGIN, SMALL)
    head = MARGIN + text_height(len(title), TEXT + 1) + 0.06 + max(text_width(name, SMALL) for name in headers) + 0.05
    foot = BELOW + text_height(len(caption), SMALL) + MARGIN
    groups = np.argmax(information.matrix, axis=0)
    gaps = [0.0, *np.where(np.diff(groups) != 0, APART, TOUCHING)]
    across = _across(starts, strips.shape[2], latents, room, PAGE_HEIGHT - head - foot - sum(gaps))
    pages = [_page(block, across) for block in strips]
    tall = pages[0].shape[0] / pages[0].shape[1]
    width = min(room, (PAGE_HEIGHT - head - foot - sum(gaps)) / latents / tall)
    row = width * tall
    height = head + latents * row + sum(gaps) + foot
    figure = new_page(height)
    figure.suptitle("\n".join(title), x=MARGIN / PAGE, y=1 - MARGIN / height, ha="left", va="top", fontsize=TEXT + 1)
    map_left = left + width + GAP
    top = head
    image: Any = None
    for place, page in enumerate(pages):
        top += gaps[place]
        bottom = (height - top - row) / height
        pictures = figure.add_axes((left / PAGE, bottom, width / PAGE, row / height))
        pictures.imshow(page, interpolation="nearest", aspect="auto")
        pictures.set_xticks([])
        pictures.set_yticks([(page.shape[0] - 1) / 2], [names[place]], fontsize=TEXT)
        pictures.get_yticklabels()[0].set_color(INACTIVE if moved.inactive[place] else "black")
        pictures.tick_params(length=0, pad=3)
        pictures.spines[:].set_visible(False)
        panel = figure.add_axes((map_left / PAGE, bottom, cell * len(factors) / PAGE, row / height))
        values = information.matrix[:, [place]].T
        image = heat_map(
            panel,
            values,
            [""],
            headers if place == 0 else [""] * len(factors),
            greatest=1.0,
            grey_rows=[moved.inactive[place]],
            numbers=cell >= NUMBERED,
        )
        panel.set_yticks([])
        panel.xaxis.tick_top()
        panel.tick_params(length=0, pad=2, axis="x", labelrotation=90)
        top += row
    bar = (map_left / PAGE, 1 - (top + 0.1) / height, cell * len(factors) / PAGE, 0.07 / height)
    add_scale(figure, image, bar, ABOVE_CHANCE)
    figure.text(MARGIN / PAGE, MARGIN / height, "\n".join(caption), fontsize=SMALL, va="bottom", linespacing=1.2)
    return figure


def _caption(moved: Traversals, labels: Labels) -> str:
    images = "one image" if moved.starts == 1 else f"each of {moved.starts} images"
    text = (
        f"Each row moves one latent of {images} and leaves the others as they are; beside it is how much the latent "
        "tells about each factor, 1 if everything. Latents that tell most about the same factor stand together."
    )
    marked = " Latents in grey are inactive." if any(moved.inactive) else ""
    return "\n".join(part for part in (text + marked, labels.caption) if part)


def _across(starts: int, steps: int, latents: int, width: float, height: float) -> int:
    """Return how many start images stand side by side, so that images are as large as possible."""

    def side(across: int) -> float:
        lines = -(-starts // across)
        return min(width / (across * steps + (across - 1) * BETWEEN), height / (latents * lines))

    return max(range(1, starts + 1), key=lambda across: (round(side(across), 3), across))


def _page(block: Tensor, across: int) -> Any:
    """Return the images (starts, steps, C, H, W) of a latent as one picture, ``across`` start images side by side."""
    lines = []
    for first in range(0, len(block), across):
        strips = [mosaic(strip[None]) for strip in block[first : first + across]]
        between = np.full((strips[0].shape[0], round(BETWEEN * block.shape[-1]), 3), 255, np.uint8)
        blank = [np.full_like(strips[0], 255)] * (across - len(strips))
        parts = [part for strip in [*strips, *blank] for part in (strip, between)][:-1]
        lines.append(np.concatenate(parts, axis=1))
    return np.concatenate(lines)[:-1, :-1]  # without the white edge of the last images
