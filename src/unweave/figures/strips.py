"""Rows of images under one another, each with a label: what sheets, reconstructions and traversals are drawn as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from unweave.errors import extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAP = 2  # pixels between images at 64 × 64


def draw_strips(title: str, rows: Sequence[tuple[str, Tensor]]) -> Figure:
    """A matplotlib figure of rows of images (n, C, H, W) uint8, a label each."""
    extra("matplotlib", "figures")
    from matplotlib.figure import Figure

    strips = [_strip(images) for _, images in rows]
    width = max(strip.shape[1] for strip in strips)
    strips = [torch.cat([s, s.new_full((s.shape[0], width - s.shape[1], 3), 255)], dim=1) for s in strips]
    page = torch.cat(strips).numpy()
    label = 1.3  # inches at the left
    figure = Figure(figsize=(label + 9, 9 * page.shape[0] / page.shape[1] + 0.4), dpi=150)
    left, top = label / figure.get_figwidth(), 1 - 0.35 / figure.get_figheight()
    axes = figure.add_axes((left, 0.05 / figure.get_figheight(), 0.99 - left, top - 0.05 / figure.get_figheight()))
    axes.imshow(page, interpolation="nearest", aspect="equal")
    axes.set_axis_off()
    height = strips[0].shape[0]
    for row, (name, _) in enumerate(rows):
        axes.text(-0.006 * width, (row + 0.5) * height, name, ha="right", va="center", fontsize=9)
    axes.set_title(title, fontsize=11, loc="left")
    return figure


def to_bytes(images: Tensor) -> Tensor:
    """Images in [0, 1] as uint8."""
    return (images * 255).round().clamp(0, 255).to(torch.uint8)


def _strip(images: Tensor) -> Tensor:
    """Images (n, C, H, W) side by side with white gaps: (H + gap, n · (W + gap), 3)."""
    gap = max(1, GAP * images.shape[-1] // 64)
    padded = torch.nn.functional.pad(images.expand(-1, 3, -1, -1), (0, gap, 0, gap), value=255)
    return padded.permute(2, 0, 3, 1).reshape(padded.shape[2], -1, 3)
