"""A net of fully connected layers, for vectors or for images of any size."""

from __future__ import annotations

import math

from torch import nn

from unweave.nets.pair import Activation, LayeredDecoder, Net, Shape, Width, activation_layer, balanced, scaled


def mlp(shape: Shape, outputs: int, latents: int, *, activation: Activation = "relu", width: Width = 1.0) -> Net:
    """Two hidden layers of 256 units, mirrored in the decoder. Any shape; a vector of V values is (V, 1, 1).

    Args:
        shape: The shape of an image (C, H, W).
        outputs: The number of values that the encoder returns.
        latents: The number of values that the decoder takes.
        activation: The activation of hidden layers.
        width: What the number of units of every hidden layer is multiplied by.

    Returns:
        The encoder and the decoder.
    """
    pixels, units = math.prod(shape), scaled(256, width)

    def full(inputs: int) -> nn.Sequential:
        return nn.Sequential(nn.Linear(inputs, units), activation_layer(activation))

    encoder = nn.Sequential(nn.Flatten(), full(pixels), full(units), nn.Linear(units, outputs))
    output = nn.Sequential(nn.Linear(units, pixels), nn.Unflatten(1, shape))
    return balanced(Net(encoder, LayeredDecoder([full(latents), full(units)], output)))
