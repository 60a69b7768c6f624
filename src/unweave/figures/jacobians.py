"""Columns of the decoder's Jacobian: what a small step along each latent changes (Rhodes & Lee 2021, fig. 1 to 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import InputError, extra, whole
from unweave.figures.drawing.panels import compact
from unweave.figures.drawing.strips import draw_strips, in_colour
from unweave.figures.drawing.style import DIVERGING
from unweave.figures.drawing.subjects import names_of
from unweave.representation import Representation
from unweave.training.trainer import components

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHANNELS = {1: ("",), 3: ("red", "green", "blue")}


@dataclass(frozen=True)
class Columns:
    """The columns (columns, C, H, W) of one run at one image (C, H, W), by decreasing L2 norm."""

    name: str
    image: Tensor  # the data point, or the mean image of the data for a basis, which does not depend on it
    basis: bool
    columns: Tensor
    latents: tuple[int, ...]
    norms: tuple[float, ...]
    areas: tuple[float, ...]  # fraction of the image that holds most of the energy of the column


@dataclass(frozen=True)
class Jacobians:
    """The columns of all runs."""

    title: str
    blocks: tuple[Columns, ...]
    channels: Literal["apart", "mean"] = "apart"
    energy: float = 0.9
    images: bool = True  # whether the image is drawn before its columns

    def records(self) -> list[dict[str, Any]]:
        """Return one row per column: its run, latent, L2 norm and the area that holds most of its energy."""
        return [
            {"run": block.name.replace("\n", ", "), "latent": latent, "norm": norm, "area": area}
            for block in self.blocks
            for latent, norm, area in zip(block.latents, block.norms, block.areas, strict=True)
        ]


def make_jacobians(
    runs: Sequence[Representation],
    data: Sequence[FactorData],
    generator: torch.Generator,
    *,
    points: int = 1,
    factors: list[int] | list[list[int]] | None = None,
    most: int = 10,
    channels: Literal["apart", "mean"] = "apart",
    bases: bool = False,
    energy: float = 0.9,
    samples: int = 2_000,
    images: bool = True,
) -> Jacobians:
    """Compute the Jacobian of each run's decoder at the codes of ``points`` random images.

    Runs on the same data share the images. The columns of linear recipes are scaled to one standard deviation of their
    latent, because their own length is arbitrary.

    Args:
        runs: The runs whose decoders are shown.
        data: The data set of each run.
        generator: The source of randomness.
        points: The number of random images.
        factors: Chooses the image by its factors instead, or several images by a list of factors for each. Rhodes & Lee
            2021 show three-dots at [32, 16, 48, 32, 16, 48] (figures 2 and 6), and MPI3D-Multi with its arms at [13, 0,
            22, 10, 16, 3, 6, 32] (figure 3).
        most: The number of columns that are kept, those with the largest L2 norm.
        channels: Whether the channels of a column are shown apart, or their mean.
        bases: Whether principal and independent components are added for each data set (figure 10), with as many
            latents as its first run.
        energy: The fraction of a column's squared values that its area holds.
        samples: The number of images that the components are fitted to.
        images: Whether the images are shown, or the columns alone.

    Returns:
        The columns by run and image.
    """
    if not 0 < energy <= 1:
        raise InputError(f"energy must be above 0 and at most 1, got {energy}.")
    points, most = whole("points", points, at_least=1), whole("most", most, at_least=1)
    chosen: dict[str, Tensor] = {}  # images of each data set
    blocks: list[Columns] = []
    for run, own, name in zip(runs, data, names_of(runs), strict=True):
        place = own.identity.model_dump_json()
        first = place not in chosen
        if first:
            chosen[place] = _images(own, points, factors, generator)
        columns = run.jacobian(run.encode(chosen[place]))  # (points, D, C, H, W)
        if run.linear:
            columns = columns * torch.tensor(run.summary.std)[:, None, None, None]
        blocks += [_block(name, image, part, most, energy) for image, part in zip(chosen[place], columns, strict=True)]
        if bases and first:
            blocks += _bases(own, generator, run.size, samples, most, energy)
    return Jacobians("Jacobian columns, by L2 norm", tuple(blocks), channels, energy, images)


def _images(
    data: FactorData, points: int, factors: list[int] | list[list[int]] | None, generator: torch.Generator
) -> Tensor:
    """Return random images (points, C, H, W), or those of the given factors."""
    if factors is None:
        return data.sample(points, generator).images
    if points > 1:
        raise InputError("factors chooses the images, so points has no effect: leave one of them out.")
    return data.images([factors] if factors and isinstance(factors[0], int) else factors, generator)


def area_of_energy(columns: Tensor, energy: float = 0.9) -> Tensor:
    """Return the smallest fraction of pixels that holds this fraction of the energy of each column (n, C, H, W).

    The energy of a pixel is the sum of its squared values over channels. A column that is 0 everywhere has area 0.
    """
    per_pixel = columns.double().square().sum(1).flatten(1)  # (n, H · W)
    held = per_pixel.sort(descending=True).values.cumsum(1)
    needed = (held < energy * held[:, -1:] * (1 - 1e-12)).sum(1) + 1
    return torch.where(held[:, -1] > 0, needed, 0) / per_pixel.shape[1]


def draw_jacobians(result: Jacobians) -> Figure:
    """Draw the columns in a diverging palette, one row per channel, and return the matplotlib figure.

    Images with other numbers of channels than 1 and 3 have one row, the mean over channels.
    All columns of a run have the same contrast. Above each column are its latent, its norm and its area.
    """
    rows: list[tuple[str, Tensor]] = []
    captions: list[list[str] | None] = []
    limits = {block.name: 0.0 for block in result.blocks}
    for block in result.blocks:
        limits[block.name] = max(limits[block.name], float(_shown(block, result.channels).abs().max()))
    for block in result.blocks:
        shown = _shown(block, result.channels)  # (columns, rows, H, W)
        for channel, kind in enumerate(CHANNELS[shown.shape[1]]):
            coloured = _coloured(shown[:, channel], limits[block.name])
            if result.images:
                coloured = torch.cat([_start(block.image, channel, shown.shape[1]), coloured])
            label = block.name if channel == 0 else ""
            rows.append((f"{label}\n{kind}".strip(), coloured))
            captions.append(_captions(block, result.images) if channel == 0 else None)
    footer = (
        f"Above each column: latent, L2 norm, and fraction of the image that holds {result.energy:.0%} of its energy. "
        "Blue is negative, red positive; one contrast per run."
    )
    return draw_strips(result.title, rows, captions=captions, footer=footer)


def _block(name: str, image: Tensor, columns: Tensor, most: int, energy: float, *, basis: bool = False) -> Columns:
    norms = columns.flatten(1).norm(dim=1)
    order = norms.argsort(descending=True, stable=True)[:most]
    chosen = columns[order]
    areas = area_of_energy(chosen, energy)
    return Columns(
        name, image, basis, chosen, tuple(order.tolist()), tuple(norms[order].tolist()), tuple(areas.tolist())
    )


def _bases(
    data: FactorData, generator: torch.Generator, latents: int, samples: int, most: int, energy: float
) -> list[Columns]:
    """Return the principal and the independent components of the images, per standard deviation of their source."""
    images = data.sample(samples, generator).images
    mean = images.float().mean(0).round().to(torch.uint8)
    pixels = images.flatten(1).numpy() / 255.0
    kinds: tuple[Literal["pca", "ica"], ...] = ("pca", "ica")
    blocks = []
    for kind in kinds:
        encode, decode, _ = components(kind, pixels, min(latents, *pixels.shape), seed=0)
        spread = torch.from_numpy(pixels).float().matmul(encode.T).std(0)
        columns = (decode * spread).T.unflatten(1, data.shape)
        blocks.append(_block(kind.upper(), mean, columns, most, energy, basis=True))
    return blocks


def _shown(block: Columns, channels: str) -> Tensor:
    """Return the columns (columns, rows, H, W) with one row per channel, or with their mean over channels."""
    apart = channels == "apart" and block.columns.shape[1] in CHANNELS
    return block.columns if apart else block.columns.mean(1, keepdim=True)


def _coloured(values: Tensor, limit: float) -> Tensor:
    """Return values (n, H, W) in the diverging palette, (n, 3, H, W) uint8; white is 0."""
    extra("matplotlib", "figures")
    from matplotlib import colormaps

    scaled = 0.5 + 0.5 * values / max(limit, 1e-12)
    rgb = colormaps[DIVERGING](scaled.numpy(), bytes=True)[..., :3]
    return torch.from_numpy(rgb.copy()).permute(0, 3, 1, 2)


def _start(image: Tensor, channel: int, rows: int) -> Tensor:
    """Return the data point (1, 3, H, W), or one of its three channels in the colour of the channel."""
    if rows == 1:
        return in_colour(image[None])
    alone = torch.zeros_like(image)
    alone[channel] = image[channel]
    return alone[None]


def _captions(block: Columns, images: bool) -> list[str]:
    numbers = zip(block.latents, block.norms, block.areas, strict=True)
    start = ["mean\nimage" if block.basis else "image"] if images else []
    return [*start, *(f"z{latent}\n{compact(float(f'{norm:.2g}'))}\n{area:.0%}" for latent, norm, area in numbers)]
