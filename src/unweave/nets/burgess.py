"""The convolutional net of Burgess et al. 2018, whose layers all have 32 channels.

Public implementations train it on 64 × 64 images; the models that ``public:disentangling-vae/…`` names have it.
"""

from __future__ import annotations

from itertools import pairwise

from torch import nn

from unweave.nets.conv64 import upsampled
from unweave.nets.pair import (
    Activation,
    Flatten,
    Net,
    Shape,
    Unflatten,
    Width,
    activation_layer,
    balanced,
    cells,
    scaled,
)


def burgess(shape: Shape, outputs: int, latents: int, *, activation: Activation = "relu", width: Width = 1.0) -> Net:
    """Four convolutions of stride 2 and three linear layers, mirrored in the decoder. Sizes are multiples of 16.

    Args:
        shape: The shape of an image (C, H, W).
        outputs: The number of values that the encoder returns.
        latents: The number of values that the decoder takes.
        activation: The activation of hidden layers.
        width: What the number of channels and units of every hidden layer is multiplied by.

    Returns:
        The encoder and the decoder.
    """
    rows, columns = cells("burgess", shape)
    channels, units = scaled(32, width), scaled(256, width)
    features = channels * rows * columns
    widths = (shape[0], channels, channels, channels, channels)
    encoder: list[nn.Module] = []
    for inputs, filters in pairwise(widths):
        encoder += [nn.Conv2d(inputs, filters, 4, stride=2, padding=1), activation_layer(activation, inplace=True)]
    encoder.append(Flatten())
    for inputs in (features, units):
        encoder += [nn.Linear(inputs, units), activation_layer(activation)]
    encoder.append(nn.Linear(units, outputs))
    full = [nn.Sequential(nn.Linear(size, units), activation_layer(activation)) for size in (latents, units)]
    full.append(
        nn.Sequential(nn.Linear(units, features), activation_layer(activation), Unflatten(channels, rows, columns))
    )
    return balanced(Net(nn.Sequential(*encoder), upsampled(full, (channels,) * 4, shape[0], activation)))
