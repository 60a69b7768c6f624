"""Reconstructions: images, their reconstructions by a run, and the difference."""

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
class Reconstructions:
    """Images (n, C, H, W) uint8 and their reconstructions."""

    title: str
    images: Tensor
    reconstructions: Tensor
    note: str = ""


def make_reconstructions(
    run: Run, data: FactorData, generator: torch.Generator, *, columns: int = 16
) -> Reconstructions:
    """Encode and decode random images of the data."""
    images = data.sample(columns, generator).images
    title = title_of(run, factors=len(data.space) if data.has_factors else None)
    return Reconstructions(title, images, to_bytes(run.reconstruct(images)), run.hint)


def draw_reconstructions(result: Reconstructions) -> Figure:
    """Draw three rows, images, reconstructions and the absolute difference, and return the matplotlib figure."""
    difference = (result.images.int() - result.reconstructions.int()).abs().to(torch.uint8)
    rows = [("image", result.images), ("reconstruction", result.reconstructions), ("difference", difference)]
    return draw_strips(result.title, rows, note=result.note)
