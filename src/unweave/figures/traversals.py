"""Traversals: what each latent does to an image, with the most informative latent first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.figures.strips import draw_strips, to_bytes
from unweave.figures.titles import title_of
from unweave.training import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Traversals:
    """One row of images (steps, C, H, W) uint8 per latent, in the order drawn, with its label and its values."""

    title: str
    rows: tuple[tuple[str, Tensor], ...]
    values: tuple[tuple[float, ...], ...]
    note: str = ""


def make_traversals(run: Run, data: FactorData, generator: torch.Generator, *, steps: int = 11) -> Traversals:
    """Move each latent over its range, starting from the code of one random image.

    Latents are ordered by KL, by the entropy of their values, or by their standard deviation. A quantised latent shows
    each of its levels at most once.
    """
    image = data.sample(1, generator).images
    code = run.encode(image)[0]
    grid = to_bytes(run.traverse(code, steps=steps))  # (D, steps, C, H, W)
    values = run.traversal_values(steps=steps)  # (D, steps)
    summary = run.summary
    labels = {
        latent: f"z{latent}" + (f", {summary.kl[latent]:.2f} nats" if summary.kl else "") for latent in summary.order
    }
    return Traversals(
        title_of(run, f"latents by {summary.order_name}", factors=len(data.space) if data.has_factors else None),
        tuple((labels[latent], grid[latent]) for latent in summary.order),
        tuple(tuple(values[latent].tolist()) for latent in summary.order),
        run.hint,
    )


def draw_traversals(result: Traversals) -> Figure:
    """Draw one row per latent with its values above the images, and return the matplotlib figure."""
    captions = [_captions(row) for row in result.values]
    return draw_strips(result.title, result.rows, captions=captions, note=result.note)


def _captions(values: tuple[float, ...]) -> list[str]:
    """Return the values as texts; a value that is 0 up to rounding error is written as 0."""
    negligible = 1e-6 * max(abs(value) for value in values)
    return ["0" if abs(value) <= negligible else f"{value:.2g}" for value in values]
