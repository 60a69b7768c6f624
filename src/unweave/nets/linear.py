"""One linear layer each way, used for principal and independent components."""

from __future__ import annotations

import math

from torch import nn

from unweave.nets.pair import Net, Shape


def linear(shape: Shape, outputs: int, latents: int) -> Net:
    """Map all pixels to the outputs, and codes to all pixels, by one matrix each."""
    pixels = math.prod(shape)
    return Net(
        nn.Sequential(nn.Flatten(), nn.Linear(pixels, outputs)),
        nn.Sequential(nn.Linear(latents, pixels), nn.Unflatten(1, shape)),
    )
