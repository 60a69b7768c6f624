"""Latent interventions on several images beside the mutual information with factors (Hsu et al. 2024, fig. 7 to 10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from unweave.data import FactorData
from unweave.figures.drawing.panels import PAGE, PAGE_HEIGHT, SMALL, TEXT
from unweave.figures.drawing.strips import mosaic
from unweave.figures.drawing.style import INACTIVE, add_colour_bar, heat_map, new_figure
from unweave.figures.mutual_information import Information, information_map
from unweave.figures.traversals import Inactive, Traversals, make_traversals
from unweave.training import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDE, NARROW = 4.6, 1.8  # inches of the images
GAP = 4  # pixels between latents


@dataclass(frozen=True)
class Interventions:
    """The traversals of several images, and the information of the same latents about the factors."""

    traversals: Traversals
    information: Information


def make_interventions(
    run: Run,
    data: FactorData,
    generator: torch.Generator,
    *,
    starts: int = 3,
    steps: int | None = None,
    inactive: Inactive = "drop",
    samples: int = 5_000,
    most: int | None = None,
) -> Interventions:
    """Move each latent of ``starts`` random images, and compute the information from ``samples`` images.

    Args:
        run: The run whose latents are moved.
        data: The data set to draw images from.
        generator: The source of randomness.
        starts: The number of random images to start from.
        steps: The number of values, as in :func:`make_traversals`.
        inactive: Whether inactive latents are dropped as in the paper, or marked, or shown.
        samples: The number of images that the information is computed from.
        most: The largest number of latents; by default all are shown.

    Returns:
        The images, and the information of each latent about each factor.
    """
    moved = make_traversals(run, data, generator, starts=starts, steps=steps, inactive=inactive, most=most)
    information = information_map(run, data, generator, samples=samples)
    chosen = [information.latents.index(latent) for latent in moved.latents]
    matrix = information.matrix[:, chosen]
    kept = Information("", matrix, information.factors, moved.latents, moved.inactive)
    return Interventions(moved, kept)


def draw_interventions(result: Interventions) -> Figure:
    """Draw one block of images per latent with its row of the heat map beside it; return the matplotlib figure."""
    moved, information = result.traversals, result.information
    latents, starts = len(moved.latents), moved.starts
    strips = torch.stack([strip for _, strip in moved.rows]).unflatten(0, (latents, starts))
    page = np.concatenate([np.pad(mosaic(block), ((0, GAP), (0, 0), (0, 0)), constant_values=255) for block in strips])
    right = 0.42 * len(information.factors) + 0.9
    tall = page.shape[0] / page.shape[1]
    across = max(NARROW, min(WIDE, PAGE - right - 0.6, (PAGE_HEIGHT - 1.5) / tall))  # inches of the images
    figure = new_figure(across + right + 0.6, across * tall + 1.5)
    left, map_axes = figure.subplots(1, 2, width_ratios=(across, right))
    left.imshow(page, interpolation="nearest", aspect="auto")
    height = page.shape[0] / latents
    labels = [
        f"z{latent}" + (" inactive" if grey else "") for latent, grey in zip(moved.latents, moved.inactive, strict=True)
    ]
    left.set_yticks([(row + 0.5) * height for row in range(latents)], labels, fontsize=TEXT)
    for row, grey in enumerate(moved.inactive):
        left.get_yticklabels()[row].set_color(INACTIVE if grey else "black")
    left.set_xticks([])
    left.tick_params(length=0)
    left.spines[:].set_visible(False)
    left.set_xlabel(f"{starts} image{'s' if starts > 1 else ''}, one below the other", fontsize=SMALL)
    image = heat_map(
        map_axes, information.matrix.T, labels, information.factors, greatest=1.0, grey_rows=moved.inactive
    )
    map_axes.set_yticks([])
    map_axes.xaxis.tick_top()  # close to the first row of a tall figure
    map_axes.tick_params(length=0)
    for row in range(1, latents):
        map_axes.axhline(row - 0.5, color="white", linewidth=1.5)
    add_colour_bar(figure, image, map_axes, "I(z; f) / H(f)")
    figure.suptitle(moved.title, fontsize=TEXT, wrap=True)
    figure.draw_without_rendering()  # lays out the texts, whose size decides how much is left for the images
    box = left.get_position()
    width, height = box.width * figure.get_figwidth(), box.height * figure.get_figheight()
    figure.set_figheight(figure.get_figheight() + width * tall - height)  # pixels are square
    return figure
