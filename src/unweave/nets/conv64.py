"""The convolutional net that most of the field uses on 64 × 64 images, with 4 × 4 kernels throughout.

Rhodes and Lee 2021, Table 1; Michlo et al. 2023, Table A3; Locatello et al. 2019, Table 2. The code published with the
last has 2 × 2 kernels in two layers of the encoder. Its table and the other two papers have 4 × 4, which is used here.
"""

from __future__ import annotations

from torch import Tensor, nn

from unweave.nets.activation import Activation, Width, activation_layer, scaled
from unweave.nets.pair import Flatten, LayeredDecoder, Net, Shape, Unflatten, cells
from unweave.nets.start import balanced
from unweave.nets.upconv import Upconv, in_a_row


def conv64(shape: Shape, outputs: int, latents: int, *, activation: Activation = "relu", width: Width = 1.0) -> Net:
    """Four convolutions of stride 2 and two linear layers, mirrored in the decoder. Sizes are multiples of 16."""
    channels = shape[0]
    rows, columns = cells("conv64", shape)
    narrow, wide, units = (scaled(count, width) for count in (32, 64, 256))
    features = wide * rows * columns
    encoder = nn.Sequential(
        nn.Conv2d(channels, narrow, 4, stride=2, padding=1),
        activation_layer(activation, inplace=True),
        nn.Conv2d(narrow, narrow, 4, stride=2, padding=1),
        activation_layer(activation, inplace=True),
        nn.Conv2d(narrow, wide, 4, stride=2, padding=1),
        activation_layer(activation, inplace=True),
        nn.Conv2d(wide, wide, 4, stride=2, padding=1),
        activation_layer(activation, inplace=True),
        Flatten(),
        nn.Linear(features, units),
        activation_layer(activation),
        nn.Linear(units, outputs),
    )
    full = [
        nn.Sequential(nn.Linear(latents, units), activation_layer(activation)),
        nn.Sequential(nn.Linear(units, features), activation_layer(activation), Unflatten(wide, rows, columns)),
    ]
    upconvs = ((wide, wide), (wide, narrow), (narrow, narrow))
    output = Upconv(narrow, channels)
    if activation == "relu":
        fused = [Upconv(*widths, relu=True) for widths in upconvs]
        return balanced(Net(encoder, ReLUDecoder([*full, *fused], output)))
    layers = [nn.Sequential(Upconv(*widths), activation_layer(activation)) for widths in upconvs]
    return balanced(Net(encoder, LayeredDecoder([*full, *layers], output)))


class ReLUDecoder(LayeredDecoder):
    """Two linear layers, then four transposed convolutions with their ReLUs fused, computed as one row."""

    output: Upconv

    def forward(self, codes: Tensor) -> Tensor:
        """Return logits (B, C, H, W) of ``codes`` (B, D)."""
        first, second, *upconvs = self.layers
        return in_a_row([*upconvs, self.output], second(first(codes)))  # type: ignore[list-item]
