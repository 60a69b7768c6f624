"""Two latents moved together: does the effect of one depend on the other? (Hsu et al. 2024, figure 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import InputError
from unweave.figures.drawing.panels import SMALL, TEXT, lay_out, panel_grid
from unweave.figures.drawing.strips import mosaic, to_bytes
from unweave.figures.drawing.subjects import latent_values, names_of, ordered_latents, title_of, value_texts
from unweave.figures.drawing.texts import text_width
from unweave.representation import Over, Representation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS = 7  # values of each of two continuous latents; quantised ones show every level
SIDE, LARGE = 2.9, 4.6  # inches of one grid of several, and of one alone


@dataclass(frozen=True)
class LatentGrid:
    """Images (rows, columns, C, H, W) uint8 of one run: ``down`` moves along rows, ``across`` along columns."""

    name: str
    down: int
    across: int
    images: Tensor
    down_values: tuple[float, ...]
    across_values: tuple[float, ...]


@dataclass(frozen=True)
class TwoLatents:
    """The grid of each run."""

    title: str
    grids: tuple[LatentGrid, ...]


def make_two_latents(
    runs: Sequence[Representation],
    data: Sequence[FactorData],
    generator: torch.Generator,
    *,
    latents: tuple[int, int] | None = None,
    steps: int | None = None,
    over: Over = "auto",
    span: float = 2.0,
) -> TwoLatents:
    """Decode every combination of the values of two latents, starting from the code of a random image.

    Runs on the same data start from the same image.

    Args:
        runs: The runs that decode.
        data: The data set of each run.
        generator: The source of randomness.
        latents: The same two for all runs; by default each run takes its two most informative ones.
        steps: The number of values, as in :func:`make_traversals`.
        over: The range, as in :func:`make_traversals`.
        span: The number of standard deviations for ``over="prior"``.

    Returns:
        The images of each run.
    """
    starts: dict[str, Tensor] = {}
    grids = []
    for run, own, name in zip(runs, data, names_of(runs), strict=True):
        place = own.identity.model_dump_json()
        if place not in starts:
            starts[place] = own.sample(1, generator).images
        down, across = _chosen(run, latents)
        values, _ = latent_values(run, steps=steps or (None if run.discrete else STEPS), over=over, span=span)
        columns = values.shape[1]
        codes = run.encode(starts[place])[0].repeat(columns, columns, 1)  # (rows, columns, D)
        codes[..., down] = values[down][:, None]
        codes[..., across] = values[across]
        images = to_bytes(run.decode(codes.flatten(0, 1))).unflatten(0, (columns, columns))
        grids.append(
            LatentGrid(name, down, across, images, tuple(values[down].tolist()), tuple(values[across].tolist()))
        )
    title = title_of(runs[0], "two latents moved together", data[0]) if len(runs) == 1 else "Two latents moved together"
    return TwoLatents(title, tuple(grids))


def draw_two_latents(result: TwoLatents) -> Figure:
    """Draw the grids, two side by side, with the values of both latents, and return the matplotlib figure."""
    across = min(2, len(result.grids))
    figure, axes = panel_grid(-(-len(result.grids) // across), across)
    side = SIDE if across == 2 else LARGE
    for panel in axes.flat[len(result.grids) :]:
        panel.set_axis_off()
    for panel, grid in zip(axes.flat, result.grids, strict=False):
        page = mosaic(grid.images)
        panel.imshow(page, interpolation="nearest", aspect="auto")
        rows, columns = grid.images.shape[:2]
        height, width = page.shape[0] / rows, page.shape[1] / columns
        texts = value_texts(grid.across_values)
        panel.set_xticks([(c + 0.5) * width for c in range(columns)], texts, fontsize=SMALL)
        if max(text_width(text, SMALL) for text in texts) + 0.03 > side / columns:  # they would run into each other
            panel.tick_params(axis="x", rotation=90)
        panel.set_yticks([(r + 0.5) * height for r in range(rows)], value_texts(grid.down_values), fontsize=SMALL)
        panel.tick_params(length=0)
        panel.spines[:].set_visible(False)
        panel.set_xlabel(f"z{grid.across}", fontsize=TEXT)
        panel.set_ylabel(f"z{grid.down}", fontsize=TEXT)
        if len(result.grids) > 1:
            panel.set_title(grid.name.replace("\n", ", "), fontsize=TEXT)
    return lay_out(figure, axes, height=side, width=side, title=result.title)


def _chosen(run: Representation, latents: tuple[int, int] | None) -> tuple[int, int]:
    size = run.size
    if latents is None:
        if size < 2:
            raise InputError("two_latents needs a run with at least two latents, this one has one.")
        first, second = ordered_latents(run)[0][:2]
        return first, second
    if latents[0] == latents[1] or not all(0 <= latent < size for latent in latents):
        raise InputError(f"latents must be two different numbers from 0 to {size - 1}, got {latents}.")
    return latents
