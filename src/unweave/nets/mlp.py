"""A pair of full layers that knows nothing of images: for vectors, or for pictures of any size."""

from __future__ import annotations

import math

from torch import nn

from unweave.nets.pair import LayeredDecoder, Net, Shape, started


def mlp(shape: Shape, outputs: int, latents: int) -> Net:
    """Two hidden layers of 256 with ReLU, and their mirror image. Any shape; a vector of V values is (V, 1, 1)."""
    pixels = math.prod(shape)
    encoder = nn.Sequential(nn.Flatten(), _full(pixels, 256), _full(256, 256), nn.Linear(256, outputs))
    output = nn.Sequential(nn.Linear(256, pixels), nn.Unflatten(1, shape))
    return started(Net(encoder, LayeredDecoder([_full(latents, 256), _full(256, 256)], output)))


def _full(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, outputs), nn.ReLU())
