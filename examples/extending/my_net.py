"""A net of your own: a function from shapes to an encoder and a decoder. Keyword arguments are settings."""

import math

from torch import nn

from unweave.nets import Net


def shallow(shape: tuple[int, int, int], outputs: int, latents: int, *, hidden: int = 64) -> Net:
    """One hidden layer each way, with a smooth activation so that Hessian penalties can be used."""
    pixels = math.prod(shape)
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(pixels, hidden), nn.GELU(), nn.Linear(hidden, outputs))
    decoder = nn.Sequential(nn.Linear(latents, hidden), nn.GELU(), nn.Linear(hidden, pixels), nn.Unflatten(1, shape))
    return Net(encoder, decoder)
