"""Pairs of latents: the joint distribution of every two latents over the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from unweave.data import FactorData
from unweave.figures.drawing.panels import TEXT, lay_out, panel_grid
from unweave.figures.drawing.style import SHARES
from unweave.figures.latent_marginals import LatentSample, draw_marginal, latent_colour, sample_latents
from unweave.representation import Representation

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def make_latent_pairs(
    run: Representation, data: FactorData, generator: torch.Generator, *, samples: int = 5_000, most: int = 5
) -> LatentSample:
    """Encode random images and keep the codes of the ``most`` most informative latents.

    Args:
        run: The run that encodes.
        data: The data set to draw images from.
        generator: The source of randomness.
        samples: The number of images.
        most: The number of latents that are kept.

    Returns:
        The codes of these latents.
    """
    return sample_latents(run, data, generator, samples, most, "pairs of latents")


def draw_latent_pairs(result: LatentSample) -> Figure:
    """Draw the two-dimensional histogram of every pair of latents below their marginals; return the figure.

    Darker is more frequent. Independent latents have no shape beyond that of their marginals.
    """
    count = len(result.latents)
    figure, axes = panel_grid(count, count)
    for place in range(count):
        draw_marginal(axes[place, place], result, place)
        axes[place, place].spines["left"].set_visible(False)
    ends = [axes[place, place].get_xlim() for place in range(count)]
    for row, column in np.ndindex(count, count):
        panel = axes[row, column]
        if column > row:
            panel.set_axis_off()
            continue
        if column < row:
            _draw_joint(panel, result, column, row, (*ends[column], *ends[row]))
        if column == row:
            panel.set_yticks([])
        if result.levels is not None:
            panel.set_xticks([])
            panel.set_yticks([])
        if row == count - 1:
            panel.set_xlabel(f"z{result.latents[column]}", fontsize=TEXT, color=latent_colour(result, column))
        if column == 0 and row:
            panel.set_ylabel(f"z{result.latents[row]}", fontsize=TEXT, color=latent_colour(result, row))
        panel.tick_params(labelbottom=row == count - 1, labelleft=column == 0 and row > 0)
    caption = "Darker is more frequent; each panel has its own colour scale."
    if any(result.inactive):
        caption += " Names in grey are of inactive latents."
    if result.total > count:
        caption += f" The {count} most informative of {result.total} latents are shown."
    return lay_out(figure, axes, height=min(1.1, 5.6 / count), title=result.title, caption=caption)


def _draw_joint(
    panel: Any, result: LatentSample, across: int, down: int, extent: tuple[float, float, float, float]
) -> None:
    """Draw how often two latents take which values; ``extent`` are the ends of their ranges, across and up."""
    x, y = result.codes[:, across], result.codes[:, down]
    if result.levels is not None:
        shape = (result.levels.shape[1],) * 2
        nearest = [np.abs(codes[:, None] - result.levels[place]).argmin(1) for codes, place in ((x, across), (y, down))]
        counts = np.zeros(shape)
        np.add.at(counts, (nearest[1], nearest[0]), 1)
        panel.imshow(counts, vmin=0, cmap=SHARES, origin="lower", aspect="auto", interpolation="nearest")
        return
    cells: dict[str, Any] = {"gridsize": 26, "extent": extent, "mincnt": 1, "vmin": 0}
    panel.hexbin(x, y, cmap=SHARES, linewidths=0, rasterized=True, **cells)
    panel.set(xlim=extent[:2], ylim=extent[2:])
