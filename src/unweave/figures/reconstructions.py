"""Reconstructions: images, what a run makes of them, and where the two differ."""

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
class Reconstructions:
    """Images (n, C, H, W) uint8 and their reconstructions."""

    title: str
    images: Tensor
    reconstructions: Tensor


def make_reconstructions(
    run: Run, data: FactorData, generator: torch.Generator, *, columns: int = 16
) -> Reconstructions:
    """Random images of the data through the run and back."""
    images = data.sample(columns, generator).images
    c = run.configuration
    return Reconstructions(f"{c.recipe} on {c.data.name}", images, to_bytes(run.reconstruct(images)))


def draw_reconstructions(result: Reconstructions) -> Figure:
    """A matplotlib figure of three rows: images, reconstructions, and the absolute difference."""
    difference = (result.images.int() - result.reconstructions.int()).abs().to(torch.uint8)
    rows = [("image", result.images), ("reconstruction", result.reconstructions), ("difference", difference)]
    return draw_strips(result.title, rows)
