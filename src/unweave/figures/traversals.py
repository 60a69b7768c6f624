"""Traversals: what each latent does to an image, the most informative latent first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.figures.strips import draw_strips, to_bytes
from unweave.training import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Traversals:
    """A row of images (steps, C, H, W) uint8 for each latent, in the order drawn, with its label."""

    title: str
    rows: tuple[tuple[str, Tensor], ...]


def make_traversals(run: Run, data: FactorData, generator: torch.Generator, *, steps: int = 11) -> Traversals:
    """Each latent over its range through the code of one random image; ordered by KL, or by what stands for it."""
    image = data.sample(1, generator).images
    grid = to_bytes(run.traverse(run.encode(image)[0], steps=steps))  # (D, steps, C, H, W)
    kl = run.summary.kl
    labels = {latent: f"z{latent}" + (f", {kl[latent]:.2f} nats" if kl else "") for latent in run.summary.order}
    c = run.configuration
    ordered = tuple((labels[latent], grid[latent]) for latent in run.summary.order)
    return Traversals(f"{c.recipe} on {c.data.name}: latents by {'KL' if kl else 'spread'}", ordered)


def draw_traversals(result: Traversals) -> Figure:
    """A matplotlib figure, a row a latent."""
    return draw_strips(result.title, result.rows)
