"""The convolutional pair that most of the field uses on 64 × 64 images, with 4 × 4 kernels throughout.

Rhodes and Lee 2021, Table 1; Michlo et al. 2023, Table A3; Locatello et al. 2019, Table 2. The code that came with the
last has 2 × 2 kernels in two layers of the encoder; its table and the other two papers have 4 × 4, and so has this.
"""

from __future__ import annotations

from torch import Tensor, nn

from unweave.nets.pair import Flatten, LayeredDecoder, Net, Shape, Unflatten, cells, started
from unweave.nets.upconv import Upconv, in_a_row


def conv64(shape: Shape, outputs: int, latents: int) -> Net:
    """Four convolutions of stride 2 and two full layers, and their mirror image, for sizes that are multiples of 16."""
    channels = shape[0]
    rows, columns = cells("conv64", shape, 16)
    features = 64 * rows * columns
    encoder = nn.Sequential(
        nn.Conv2d(channels, 32, 4, stride=2, padding=1),
        nn.ReLU(inplace=True),
        nn.Conv2d(32, 32, 4, stride=2, padding=1),
        nn.ReLU(inplace=True),
        nn.Conv2d(32, 64, 4, stride=2, padding=1),
        nn.ReLU(inplace=True),
        nn.Conv2d(64, 64, 4, stride=2, padding=1),
        nn.ReLU(inplace=True),
        Flatten(),
        nn.Linear(features, 256),
        nn.ReLU(),
        nn.Linear(256, outputs),
    )
    layers = [
        nn.Sequential(nn.Linear(latents, 256), nn.ReLU()),
        nn.Sequential(nn.Linear(256, features), nn.ReLU(), Unflatten(64, rows, columns)),
        Upconv(64, 64, relu=True),
        Upconv(64, 32, relu=True),
        Upconv(32, 32, relu=True),
    ]
    return started(Net(encoder, Decoder(layers, Upconv(32, channels))))


class Decoder(LayeredDecoder):
    """Two full layers, then four transposed convolutions."""

    output: Upconv

    def forward(self, codes: Tensor) -> Tensor:
        """Logits (B, C, H, W) of ``codes`` (B, D)."""
        first, second, *upconvs = self.layers
        return in_a_row([*upconvs, self.output], second(first(codes)))  # type: ignore[list-item]
