"""The distribution of each latent over the data, beside its prior or by level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from unweave.data import FactorData
from unweave.errors import whole
from unweave.figures.drawing.panels import BLUE, TEXT, lay_out, panel_grid
from unweave.figures.drawing.style import INACTIVE
from unweave.figures.drawing.subjects import ordered_latents, title_of
from unweave.metrics.scoring.inputs import Floats
from unweave.representation import Representation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ACROSS = 5  # panels
BINS = 40


@dataclass(frozen=True, eq=False)
class LatentSample:
    """Codes (N, latents) of random images, with latents in the order drawn."""

    title: str
    codes: Floats
    latents: tuple[int, ...]
    inactive: tuple[bool, ...]
    levels: Floats | None  # (latents, levels) of quantised latents
    prior: bool  # whether the prior of each latent is a standard normal
    total: int = 0  # number of latents of the run


def make_latent_marginals(
    run: Representation, data: FactorData, generator: torch.Generator, *, samples: int = 5_000, most: int = 20
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
    return sample_latents(run, data, generator, samples, most, "latent marginals")


def sample_latents(
    run: Representation, data: FactorData, generator: torch.Generator, samples: int, most: int, about: str
) -> LatentSample:
    """Encode random images and keep the codes of the most informative latents.

    Args:
        run: The run that encodes.
        data: The data set to draw images from.
        generator: The source of randomness.
        samples: The number of images.
        most: The number of latents that are kept.
        about: The end of the title.

    Returns:
        The codes of these latents.
    """
    codes = run.draw(whole("samples", samples, at_least=2), generator, data).codes.double().numpy()
    order, name = ordered_latents(run)
    latents = order[: whole("most", most, at_least=1)]
    active = run.summary.active
    levels = run.levels
    return LatentSample(
        title_of(run, f"{about} by {name}", data),
        codes[:, latents],
        tuple(latents),
        tuple(not active[latent] for latent in latents),
        None if levels is None else levels.double().numpy()[latents],
        run.has_posterior,
        len(order),
    )


def level_shares(codes: Floats, levels: Floats) -> Floats:
    """Return the share of codes (N,) that take each of the levels (L,), by the closest one."""
    nearest = np.abs(codes[:, None] - levels).argmin(1)
    return np.bincount(nearest, minlength=len(levels)) / len(codes)


def draw_latent_marginals(result: LatentSample) -> Figure:
    """Draw one histogram per latent and return the matplotlib figure.

    A Gaussian latent is compared with its prior, a dashed line; a quantised one has a bar for each of its levels.
    """
    columns = min(ACROSS, len(result.latents))
    rows = -(-len(result.latents) // columns)
    figure, axes = panel_grid(rows, columns)
    for place, panel in enumerate(axes.flat):
        if place >= len(result.latents):
            panel.set_axis_off()
            continue
        draw_marginal(panel, result, place)
        panel.set_title(latent_name(result, place), fontsize=TEXT, color=latent_colour(result, place))
        panel.set_yticks([])
        panel.spines["left"].set_visible(False)
    return lay_out(figure, axes, height=0.95, title=result.title, caption=_caption(result))


def _caption(result: LatentSample) -> str:
    """Return what is drawn, and what is left out."""
    parts = ["Bars are levels." if result.levels is not None else "Histograms have an area of 1."]
    if result.prior and result.levels is None:
        parts.append("The dashed line is the prior. Each panel has its own height.")
    if result.total > len(result.latents):
        parts.append(f"The {len(result.latents)} most informative of {result.total} latents are shown.")
    return " ".join(parts)


def draw_marginal(panel: Any, result: LatentSample, place: int) -> None:
    """Draw the distribution of one latent into a panel."""
    codes, colour = result.codes[:, place], INACTIVE if result.inactive[place] else BLUE
    if result.levels is not None:
        levels = result.levels[place]
        gap = np.diff(levels).min() if len(levels) > 1 else 1.0
        panel.bar(levels, level_shares(codes, levels), width=0.8 * max(gap, 1e-6), color=colour)
        return
    panel.hist(codes, bins=BINS, density=True, color=colour, alpha=0.75)
    if result.prior:
        low, high = min(-3.0, codes.min()), max(3.0, codes.max())
        x = np.linspace(low, high, 200)
        panel.plot(x, np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi), color="black", linewidth=1, linestyle="--")


def latent_name(result: LatentSample, place: int) -> str:
    """Return the name of a latent, and whether it is inactive."""
    return f"z{result.latents[place]}" + (" inactive" if result.inactive[place] else "")


def latent_colour(result: LatentSample, place: int) -> str:
    """Return the colour of the name of a latent: grey if it is inactive."""
    return INACTIVE if result.inactive[place] else "black"
