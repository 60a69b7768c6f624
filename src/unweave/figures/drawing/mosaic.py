"""Images in rows and columns as one picture, with a light line around each."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from unweave.figures.drawing.strips import BORDER, in_colour


def mosaic(images: Tensor, *, gap: int = 1) -> Any:
    """Return images (rows, columns, C, H, W) uint8 as one numpy array (rows · (H + 2 + gap), …, 3).

    Every image has a grey border of one pixel and ``gap`` white pixels around it on the right and below, so that rows
    and columns have the same height and width.
    """
    rows, columns = images.shape[:2]
    bordered = torch.nn.functional.pad(in_colour(images.flatten(0, 1)), (1, 1, 1, 1), value=BORDER)
    padded = torch.nn.functional.pad(bordered, (0, gap, 0, gap), value=255)
    height, width = padded.shape[-2:]
    page = padded.unflatten(0, (rows, columns)).permute(0, 3, 1, 4, 2)  # (rows, H, columns, W, 3)
    return page.reshape(rows * height, columns * width, 3).numpy()
