"""Fill polygons: find the pixel centres inside, exactly, for a whole batch at once."""

from __future__ import annotations

import torch
from torch import Tensor

SUBPIXELS = 256  # vertices lie on a lattice of 1/256 pixel, so that comparisons with pixel centres are exact


def snap(vertices: Tensor) -> Tensor:
    """Round vertices in pixels to the lattice, as int64 lattice steps."""
    return (vertices * SUBPIXELS).round().long()


def fill(vertices: Tensor, size: int) -> Tensor:
    """Draw closed polygons as uint8 0 or 1 (B, size, size); ``vertices`` (B, V, 2) are (x, y) on the lattice, y down.

    A pixel is lit when its centre is inside by the even-odd rule; a centre on a left or bottom edge counts as inside.
    Each edge toggles, in every row it crosses, the first pixel whose centre is not left of it; the parity of a running
    sum along the row is then 1 inside.
    """
    batch = len(vertices)
    x0, y0 = vertices.unbind(-1)  # (B, V)
    x1, y1 = vertices.roll(-1, dims=1).unbind(-1)
    half = SUBPIXELS // 2
    first = (torch.minimum(y0, y1) - half).div(SUBPIXELS, rounding_mode="floor") + 1  # top end exclusive
    last = (torch.maximum(y0, y1) - half).div(SUBPIXELS, rounding_mode="floor")  # bottom end inclusive
    most = int((last - first).max()) + 1 if vertices.numel() else 0
    rows = first[..., None] + torch.arange(most, device=vertices.device)  # (B, V, rows an edge crosses at most)
    crossed = (rows <= last[..., None]) & (rows >= 0) & (rows < size)
    image, edge, step = crossed.nonzero(as_tuple=True)  # one entry per crossing
    row = rows[image, edge, step]
    x0, y0, x1, y1 = (side[image, edge].double() for side in (x0, y0, x1, y1))
    x = x0 + (row * SUBPIXELS + half - y0) * (x1 - x0) / (y1 - y0)
    column = ((x - half) / SUBPIXELS).ceil().clamp(0, size).long()
    toggles = torch.zeros(batch * size * (size + 1), dtype=torch.uint8, device=vertices.device)
    toggles.index_add_(0, (image * size + row) * (size + 1) + column, torch.ones_like(row, dtype=torch.uint8))
    return toggles.view(batch, size, size + 1)[..., :size].cumsum(-1, dtype=torch.uint8) & 1
