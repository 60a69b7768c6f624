"""Traversals: what each latent does to an image, in strips or as an animation of all latents at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import InputError, extra, whole
from unweave.figures.drawing.panels import SMALL, TEXT
from unweave.figures.drawing.strips import draw_strips, mosaic, to_bytes
from unweave.figures.drawing.style import INACTIVE, new_page
from unweave.figures.drawing.subjects import Order, latent_values, moved, ordered_latents, title_of, value_texts
from unweave.figures.drawing.texts import wrapped
from unweave.representation import Over, Representation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Inactive = Literal["mark", "drop", "show"]
MOVING = (".gif", ".mp4")
STEPS = 24  # values of a continuous latent that moves smoothly
ACROSS = 6  # latents beside one another if there is one start image
TILE = 1.1  # inches
DPI = 110  # fewer than in print, for smaller files


@dataclass(frozen=True)
class Traversals:
    """One row of images (steps, C, H, W) uint8 per latent, in the order drawn, with its label and its values.

    With several start images, each latent has as many rows, one below the other; only the first has a label.

    Examples:
        >>> import torch
        >>> import unweave
        >>> from unweave.figures import make_traversals
        >>> run = unweave.open("zoo:ada-gvae-xysquares")
        >>> result = make_traversals(run, run.data(), torch.Generator().manual_seed(0), steps=5, most=2)
        >>> len(result.rows), len(result.values[0])
        (2, 5)
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
        order: The order of the latents, as in :func:`~unweave.figures.drawing.subjects.ordered_latents`.
        over: The range, as in :meth:`Run.traversal_values`.
        span: The number of standard deviations for ``over="prior"``.
        inactive: Whether inactive latents are marked, dropped, or shown like the others.
        most: The largest number of latents; by default all are shown.

    Returns:
        The images of all rows, for :func:`draw_traversals`.

    Examples:
        >>> import torch
        >>> import unweave
        >>> from unweave.figures import make_traversals
        >>> run = unweave.open("zoo:ada-gvae-xysquares")
        >>> result = make_traversals(run, run.data(), torch.Generator().manual_seed(0), steps=5, most=2)
        >>> [images.shape for label, images in result.rows]
        [torch.Size([5, 3, 32, 32]), torch.Size([5, 3, 32, 32])]
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
    """Move each latent over its range as :func:`make_traversals` does, starting from given images.

    Args:
        run: The run whose latents are moved.
        data: The data set of the images.
        starts: The images (starts, C, H, W).
        steps: The number of values.
        order: The order of the latents.
        over: The range.
        span: The number of standard deviations for ``over="prior"``.
        inactive: Whether inactive latents are marked, dropped, or shown like the others.
        most: The largest number of latents.

    Returns:
        The images of all rows.
    """
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
    """Draw the rows of each latent with its values above the images, and return the matplotlib figure.

    Examples:
        >>> import torch
        >>> import unweave
        >>> from unweave.figures import draw_traversals, make_traversals
        >>> run = unweave.open("zoo:ada-gvae-xysquares")
        >>> result = make_traversals(run, run.data(), torch.Generator().manual_seed(0), steps=5, most=2)
        >>> draw_traversals(result).savefig("traversals.png")
    """
    captions = [value_texts(row) if number % result.starts == 0 else None for number, row in enumerate(result.values)]
    grey = [mark for mark in result.inactive for _ in range(result.starts)]
    return draw_strips(result.title, result.rows, captions=captions, note=result.note, grey=grey)


def _label(run: Representation, latent: int, inactive: bool) -> str:
    kl = run.summary.kl
    return f"z{latent}" + (f", {kl[latent]:.2f} nats" if kl else "") + ("\ninactive" if inactive else "")


def traversal_frames(result: Traversals) -> list[Any]:
    """Return the frames (H, W, 3) uint8: each latent moves over its values and back, in a tile of its own.

    With one start image, tiles are in rows; with several, each latent has a column and each start image a row.
    """
    latents, starts = len(result.latents), result.starts
    strips = torch.stack([strip for _, strip in result.rows]).unflatten(0, (latents, starts))
    across = latents if starts > 1 else min(ACROSS, latents)
    down = starts if starts > 1 else -(-latents // across)
    width = across * TILE + 0.3
    figure = new_page(down * (TILE + (0.22 if starts == 1 else 0)) + 0.8, width)
    figure.set_layout_engine("compressed")
    figure.set_dpi(DPI)
    panels = figure.subplots(down, across, squeeze=False)
    shown = []
    for row in range(down):
        for column in range(across):
            panel, latent = panels[row, column], column if starts > 1 else row * across + column
            panel.set_axis_off()
            if latent < latents:
                start = row if starts > 1 else 0
                shown.append((panel.imshow(_tile(strips, latent, start, 0), interpolation="nearest"), latent, start))
                if start == 0:
                    grey = latent < len(result.inactive) and result.inactive[latent]
                    panel.set_title(
                        result.rows[latent * starts][0], fontsize=SMALL, color=INACTIVE if grey else "black"
                    )
    size = TEXT if across > 3 else SMALL
    figure.suptitle("\n".join(wrapped(result.title, width - 0.2, size)), fontsize=size)
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    figure.set_layout_engine("none")  # otherwise the tiles would tremble
    steps = strips.shape[2]
    frames = []
    for step in [*range(steps), *range(steps - 2, 0, -1)]:
        for image, latent, start in shown:
            image.set_data(_tile(strips, latent, start, step))
        canvas.draw()
        frames.append(np.asarray(canvas.buffer_rgba())[..., :3].copy())
    return frames


def write_animation(frames: Sequence[Any], path: Path, *, seconds: float = 4.0) -> None:
    """Write frames (H, W, 3) uint8 as GIF or MP4; the whole movement takes about ``seconds`` and repeats in a GIF."""
    suffix = path.suffix.lower()
    if suffix not in MOVING:
        raise InputError(f"cannot write {path}: expected a name that ends in {' or '.join(MOVING)}.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_gif(frames, path, seconds) if suffix == ".gif" else _write_mp4(frames, path, seconds)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}.") from error


def _tile(strips: torch.Tensor, latent: int, start: int, step: int) -> Any:
    return mosaic(strips[latent, start, step][None, None], gap=0)


def _write_gif(frames: Sequence[Any], path: Path, seconds: float) -> None:
    from PIL import Image

    pages = [Image.fromarray(frame).quantize(256, dither=Image.Dither.NONE) for frame in frames]  # a palette each
    milliseconds = max(20, round(1000 * seconds / len(frames)))
    pages[0].save(path, save_all=True, append_images=pages[1:], duration=milliseconds, loop=0, optimize=False)


def _write_mp4(frames: Sequence[Any], path: Path, seconds: float) -> None:
    av = extra("av", "video")
    rate = Fraction(max(1, round(len(frames) / seconds)))
    height, width = (side - side % 2 for side in frames[0].shape[:2])  # the codec needs even sides
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=rate, options={"crf": "18"})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for frame in frames:
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame[:height, :width]), format="rgb24")
            container.mux(stream.encode(picture))
        container.mux(stream.encode())
