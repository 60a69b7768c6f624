"""One linear layer each way: what principal and independent components are kept in."""

from __future__ import annotations

import math

from torch import nn

from unweave.nets.pair import Net, Shape


def linear(shape: Shape, outputs: int, latents: int) -> Net:
    """All pixels to the outputs, and codes to all pixels."""
    pixels = math.prod(shape)
    return Net(
        nn.Sequential(nn.Flatten(), nn.Linear(pixels, outputs)),
        nn.Sequential(nn.Linear(latents, pixels), nn.Unflatten(1, shape)),
    )
