"""Reconstructions: images beside their reconstructions, by one run or by several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import whole
from unweave.figures.drawing.strips import draw_strips, to_bytes
from unweave.figures.drawing.subjects import names_of, title_of
from unweave.names import spelled
from unweave.representation import Representation

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Reconstructions:
    """Images (n, C, H, W) uint8 and their reconstructions.

    Examples:
        >>> import torch
        >>> import unweave
        >>> from unweave.figures import make_reconstructions
        >>> run = unweave.open("zoo:ada-gvae-xysquares")
        >>> result = make_reconstructions(run, run.data(), torch.Generator().manual_seed(0), columns=4)
        >>> result.images.shape == result.reconstructions.shape
        True
    """

    title: str
    images: Tensor
    reconstructions: Tensor
    note: str = ""


def make_reconstructions(
    run: Representation, data: FactorData, generator: torch.Generator, *, columns: int = 16
) -> Reconstructions:
    """Encode and decode random images of the data.

    Args:
        run: The run that reconstructs.
        data: The data set to draw images from.
        generator: The source of randomness.
        columns: The number of images.

    Returns:
        The images and their reconstructions, ready to draw.

    Examples:
        >>> import torch
        >>> import unweave
        >>> from unweave.figures import make_reconstructions
        >>> run = unweave.open("zoo:ada-gvae-xysquares")
        >>> result = make_reconstructions(run, run.data(), torch.Generator().manual_seed(0), columns=4)
        >>> result.reconstructions.shape
        torch.Size([4, 3, 32, 32])
    """
    images = data.sample(whole("columns", columns, at_least=1), generator).images
    title = title_of(run, data=data)
    return Reconstructions(title, images, to_bytes(run.reconstruct(images)), run.hint)


def draw_reconstructions(result: Reconstructions) -> Figure:
    """Draw three rows, images, reconstructions and the absolute difference, and return the matplotlib figure.

    Examples:
        >>> import torch
        >>> import unweave
        >>> from unweave.figures import draw_reconstructions, make_reconstructions
        >>> run = unweave.open("zoo:ada-gvae-xysquares")
        >>> result = make_reconstructions(run, run.data(), torch.Generator().manual_seed(0), columns=4)
        >>> draw_reconstructions(result).savefig("reconstructions.png")
    """
    difference = (result.images.int() - result.reconstructions.int()).abs().to(torch.uint8)
    rows = [("image", result.images), ("reconstruction", result.reconstructions), ("difference", difference)]
    return draw_strips(result.title, rows, note=result.note)


@dataclass(frozen=True)
class ImageRows:
    """Rows of images (n, C, H, W) uint8 with their labels: originals, each followed by the runs' reconstructions."""

    title: str
    rows: tuple[tuple[str, Tensor], ...]


def compare_reconstructions(
    runs: Sequence[Representation], data: Sequence[FactorData], generator: torch.Generator, *, columns: int = 16
) -> ImageRows | Reconstructions:
    """Reconstruct random images with each run (Locatello et al. 2019, figure 1); ``data`` has one set per run.

    Runs on the same data reconstruct the same images. A single run also shows the difference.

    Args:
        runs: The runs that reconstruct.
        data: The data set of each run.
        generator: The source of randomness.
        columns: The number of images.

    Returns:
        The images and their reconstructions, ready to draw.
    """
    if len(runs) == 1:
        return make_reconstructions(runs[0], data[0], generator, columns=columns)
    images: dict[str, Tensor] = {}
    rows: dict[str, list[tuple[str, Tensor]]] = {}
    for run, own, name in zip(runs, data, names_of(runs), strict=True):
        place = own.identity.model_dump_json()
        if place not in images:
            images[place] = own.sample(whole("columns", columns, at_least=1), generator).images
            rows[place] = [(f"{spelled(own.identity.label)}\nimages", images[place])]
        rows[place].append((name, to_bytes(run.reconstruct(images[place]))))
    return ImageRows("Reconstructions", tuple(row for block in rows.values() for row in block))


def draw_comparison(result: ImageRows | Reconstructions) -> Figure:
    """Draw the rows of images and reconstructions, and return the matplotlib figure."""
    if isinstance(result, Reconstructions):
        return draw_reconstructions(result)
    return draw_strips(result.title, result.rows)
