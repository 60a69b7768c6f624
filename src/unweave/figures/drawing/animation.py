"""Traversals that move: every latent at once, as frames, and as a GIF or MP4 file."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unweave.errors import InputError, extra
from unweave.figures.drawing.panels import SMALL, TEXT
from unweave.figures.drawing.strips import mosaic
from unweave.figures.drawing.style import INACTIVE, new_page
from unweave.figures.drawing.texts import wrapped
from unweave.figures.traversals import Traversals

MOVING = (".gif", ".mp4")
STEPS = 24  # values of a continuous latent that moves smoothly
ACROSS = 6  # latents beside one another if there is one start image
TILE = 1.1  # inches
DPI = 110  # fewer than in print, for smaller files


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
