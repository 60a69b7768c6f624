"""Traversals: what each latent does to an image, with the most informative latent first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import whole
from unweave.figures.drawing.latent_rows import Order, latent_values, moved, ordered_latents
from unweave.figures.drawing.strips import draw_strips, to_bytes
from unweave.figures.drawing.titles import title_of
from unweave.representation import Over, Representation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Inactive = Literal["mark", "drop", "show"]


@dataclass(frozen=True)
class Traversals:
    """One row of images (steps, C, H, W) uint8 per latent, in the order drawn, with its label and its values.

    With several start images, each latent has as many rows, one below the other; only the first has a label.
    """

    title: str
    rows: tuple[tuple[str, Tensor], ...]
    values: tuple[tuple[float, ...], ...]
    note: str = ""
    latents: tuple[int, ...] = ()  # in the order drawn
    inactive: tuple[bool, ...] = ()  # per latent, whether it is marked as inactive
    starts: int = 1


def make_traversals(
    run: Representation,
    data: FactorData,
    generator: torch.Generator,
    *,
    steps: int | None = None,
    starts: int = 1,
    order: Order = "auto",
    over: Over = "auto",
    span: float = 2.0,
    inactive: Inactive = "mark",
    most: int | None = None,
) -> Traversals:
    """Move each latent over its range, starting from the codes of ``starts`` random images.

    Args:
        run: The run whose latents are moved.
        data: The data set to draw images from.
        generator: The source of randomness.
        steps: The number of values, as in :meth:`Run.traversal_values`; by default 11, or up to 24 levels.
        starts: The number of random images to start from.
        order: The order of the latents, as in :func:`~unweave.figures.drawing.latent_rows.ordered_latents`.
        over: The range, as in :meth:`Run.traversal_values`.
        span: The number of standard deviations for ``over="prior"``.
        inactive: Whether inactive latents are marked, dropped, or shown like the others.
        most: The largest number of latents; by default all are shown.

    Returns:
        The images of all rows, for :func:`draw_traversals`.
    """
    images = data.sample(whole("starts", starts, at_least=1), generator).images
    return traversals_from(
        run, data, images, steps=steps, order=order, over=over, span=span, inactive=inactive, most=most
    )


def traversals_from(
    run: Representation,
    data: FactorData,
    starts: Tensor,
    *,
    steps: int | None = None,
    order: Order = "auto",
    over: Over = "auto",
    span: float = 2.0,
    inactive: Inactive = "mark",
    most: int | None = None,
) -> Traversals:
    """Move each latent over its range as :func:`make_traversals` does, starting from the images (starts, C, H, W)."""
    codes = run.encode(starts)  # (starts, D)
    values, ranging = latent_values(run, steps=steps, over=over, span=span)
    latents, order_name = ordered_latents(run, order)
    active = run.summary.active
    if inactive == "drop" and any(active):
        latents = [latent for latent in latents if active[latent]]
    latents = latents[: None if most is None else whole("most", most, at_least=1)]
    lines = torch.stack([torch.stack([moved(code, j, values[j]) for code in codes]) for j in latents])
    images = to_bytes(run.decode(lines.flatten(0, 2))).unflatten(0, lines.shape[:3])  # (D, starts, steps, C, H, W)
    marked = [inactive == "mark" and not active[latent] for latent in latents]
    labels = [_label(run, latent, mark) for latent, mark in zip(latents, marked, strict=True)]
    return Traversals(
        title_of(run, f"latents by {order_name}, {ranging}", data),
        tuple(
            (label if start == 0 else "", images[row, start])
            for row, label in enumerate(labels)
            for start in range(len(codes))
        ),
        tuple(tuple(values[latent].tolist()) for latent in latents for _ in codes),
        run.hint,
        tuple(latents),
        tuple(marked),
        len(codes),
    )


def draw_traversals(result: Traversals) -> Figure:
    """Draw the rows of each latent with its values above the images, and return the matplotlib figure."""
    captions = [_captions(row) if number % result.starts == 0 else None for number, row in enumerate(result.values)]
    grey = [mark for mark in result.inactive for _ in range(result.starts)]
    return draw_strips(result.title, result.rows, captions=captions, note=result.note, grey=grey)


def _label(run: Representation, latent: int, inactive: bool) -> str:
    kl = run.summary.kl
    return f"z{latent}" + (f", {kl[latent]:.2f} nats" if kl else "") + ("\ninactive" if inactive else "")


def _captions(values: tuple[float, ...]) -> list[str]:
    """Return the values as texts; a value that is 0 up to rounding error is written as 0."""
    negligible = 1e-6 * max(abs(value) for value in values)
    return ["0" if abs(value) <= negligible else f"{value:.2g}".replace("-", "−") for value in values]
