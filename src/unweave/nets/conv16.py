"""The convolutional net for 16 × 16 crops of natural images, with 3 × 3 kernels (Rhodes and Lee 2021, Table 2)."""

from __future__ import annotations

from typing import Annotated, Literal

from torch import nn

from unweave.nets.pair import (
    Activation,
    Flatten,
    LayeredDecoder,
    Net,
    Shape,
    Unflatten,
    Width,
    activation_layer,
    balanced,
    cells,
    convolved,
    scaled,
)
from unweave.settings import written_unless

Padding = Annotated[Literal[0, 1], written_unless(1)]


def conv16(
    shape: Shape,
    outputs: int,
    latents: int,
    *,
    activation: Activation = "relu",
    width: Width = 1.0,
    padding: Padding = 1,
) -> Net:
    """Two convolutions of stride 2, mirrored with a third of stride 1 in the decoder. Sizes are multiples of 4.

    The transposed convolutions of stride 2 add one row and one column, so that the sizes of the decoder are 4, 8, 16.

    Args:
        shape: The shape of an image (C, H, W).
        outputs: The number of values that the encoder returns.
        latents: The number of values that the decoder takes.
        activation: The activation of hidden layers.
        width: What the number of channels and units of every hidden layer is multiplied by.
        padding: That of the encoder's convolutions, which the table does not give. With 1, sizes are 16, 8, 4; the
            authors' code has 0, and sizes of 16, 7, 3.

    Returns:
        The encoder and the decoder.
    """
    channels = shape[0]
    rows, columns = cells("conv16", shape)
    encoded = convolved("conv16", shape, kernel=3, padding=padding, times=2)
    narrow, middle, wide = (scaled(units, width) for units in (32, 64, 128))
    encoder = nn.Sequential(
        nn.Conv2d(channels, middle, 3, stride=2, padding=padding),
        activation_layer(activation, inplace=True),
        nn.Conv2d(middle, wide, 3, stride=2, padding=padding),
        activation_layer(activation, inplace=True),
        Flatten(),
        nn.Linear(wide * encoded[0] * encoded[1], wide),
        activation_layer(activation),
        nn.Linear(wide, outputs),
    )
    full = nn.Linear(wide, middle * rows * columns)
    layers = [
        nn.Sequential(nn.Linear(latents, wide), activation_layer(activation)),
        nn.Sequential(full, activation_layer(activation), Unflatten(middle, rows, columns)),
        nn.Sequential(_double(middle, middle), activation_layer(activation, inplace=True)),
        nn.Sequential(_double(middle, narrow), activation_layer(activation, inplace=True)),
    ]
    return balanced(Net(encoder, LayeredDecoder(layers, nn.ConvTranspose2d(narrow, channels, 3, padding=1))))


def _double(inputs: int, outputs: int) -> nn.ConvTranspose2d:
    return nn.ConvTranspose2d(inputs, outputs, 3, stride=2, padding=1, output_padding=1)
