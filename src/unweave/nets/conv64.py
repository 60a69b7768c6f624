"""The convolutional net that most of the field uses on 64 × 64 images, with 4 × 4 kernels throughout.

Rhodes and Lee 2021, Table 1; Michlo et al. 2023, Table A3; Locatello et al. 2019, Table 2. The code published with the
last has 2 × 2 kernels in two layers of the encoder. Its table and the other two papers have 4 × 4, which is used here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Literal

from torch import Tensor, nn

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
from unweave.nets.upconv import Upconv, in_a_row
from unweave.settings import written_unless

Padding = Annotated[Literal[0, 1, 2], written_unless(1)]


def conv64(
    shape: Shape,
    outputs: int,
    latents: int,
    *,
    activation: Activation = "relu",
    width: Width = 1.0,
    padding: Padding = 1,
) -> Net:
    """Four convolutions of stride 2 and two linear layers, mirrored in the decoder. Sizes are multiples of 16.

    Args:
        shape: The shape of an image (C, H, W).
        outputs: The number of values that the encoder returns.
        latents: The number of values that the decoder takes.
        activation: The activation of hidden layers.
        width: What the number of channels and units of every hidden layer is multiplied by.
        padding: That of the encoder's convolutions, which no table gives. With 1, sizes are 64, 32, 16, 8, 4, as
            TensorFlow's "same" padding in disentanglement_lib. The code of Rhodes and Lee has 0 (64, 31, 14, 6, 2),
            that of Michlo et al. 2 (64, 33, 17, 9, 5).

    Returns:
        The encoder and the decoder.
    """
    channels = shape[0]
    rows, columns = cells("conv64", shape)
    encoded = convolved("conv64", shape, kernel=4, padding=padding, times=4)
    narrow, wide, units = (scaled(count, width) for count in (32, 64, 256))
    features = wide * rows * columns
    encoder = nn.Sequential(
        nn.Conv2d(channels, narrow, 4, stride=2, padding=padding),
        activation_layer(activation, inplace=True),
        nn.Conv2d(narrow, narrow, 4, stride=2, padding=padding),
        activation_layer(activation, inplace=True),
        nn.Conv2d(narrow, wide, 4, stride=2, padding=padding),
        activation_layer(activation, inplace=True),
        nn.Conv2d(wide, wide, 4, stride=2, padding=padding),
        activation_layer(activation, inplace=True),
        Flatten(),
        nn.Linear(wide * encoded[0] * encoded[1], units),
        activation_layer(activation),
        nn.Linear(units, outputs),
    )
    full = [
        nn.Sequential(nn.Linear(latents, units), activation_layer(activation)),
        nn.Sequential(nn.Linear(units, features), activation_layer(activation), Unflatten(wide, rows, columns)),
    ]
    return balanced(Net(encoder, upsampled(full, (wide, wide, narrow, narrow), channels, activation)))


def upsampled(
    full: Sequence[nn.Module], widths: Sequence[int], channels: int, activation: Activation
) -> LayeredDecoder:
    """Return a decoder of fully connected layers and transposed convolutions, one more than there are width changes.

    Args:
        full: The first layers; the last of them returns features (B, widths[0], H, W).
        widths: The numbers of channels before each transposed convolution.
        channels: The number of channels of an image.
        activation: The activation of hidden layers.

    Returns:
        The decoder; with ReLUs, the transposed convolutions are computed as one row.
    """
    pairs, output = list(pairwise(widths)), Upconv(widths[-1], channels)
    if activation == "relu":
        return ReLUDecoder([*full, *(Upconv(*pair, relu=True) for pair in pairs)], output)
    return LayeredDecoder(
        [*full, *(nn.Sequential(Upconv(*pair), activation_layer(activation)) for pair in pairs)], output
    )


class ReLUDecoder(LayeredDecoder):
    """Fully connected layers, then transposed convolutions with their ReLUs fused, computed as one row."""

    output: Upconv

    def forward(self, codes: Tensor) -> Tensor:
        """Return logits (B, C, H, W) of ``codes`` (B, D)."""
        features = codes
        for layer in self.layers:
            if not isinstance(layer, Upconv):
                features = layer(features)
        upconvs = [layer for layer in self.layers if isinstance(layer, Upconv)]
        return in_a_row([*upconvs, self.output], features)
