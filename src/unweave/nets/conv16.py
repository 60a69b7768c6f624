"""The convolutional pair for 16 × 16 crops of natural images, with 3 × 3 kernels (Rhodes and Lee 2021, Table 2)."""

from __future__ import annotations

from torch import nn

from unweave.nets.pair import Flatten, LayeredDecoder, Net, Shape, Unflatten, cells, started


def conv16(shape: Shape, outputs: int, latents: int) -> Net:
    """Two convolutions of stride 2, and back with a third of stride 1, for sizes that are multiples of 4.

    The table leaves the padding out: 1 everywhere, and 1 more pixel below and right where a stride of 2 goes back,
    is what leads from 16 to 8 to 4 pixels and back.
    """
    channels = shape[0]
    rows, columns = cells("conv16", shape, 4)
    encoder = nn.Sequential(
        nn.Conv2d(channels, 64, 3, stride=2, padding=1),
        nn.ReLU(inplace=True),
        nn.Conv2d(64, 128, 3, stride=2, padding=1),
        nn.ReLU(inplace=True),
        Flatten(),
        nn.Linear(128 * rows * columns, 128),
        nn.ReLU(),
        nn.Linear(128, outputs),
    )
    layers = [
        nn.Sequential(nn.Linear(latents, 128), nn.ReLU()),
        nn.Sequential(nn.Linear(128, 64 * rows * columns), nn.ReLU(), Unflatten(64, rows, columns)),
        nn.Sequential(_double(64, 64), nn.ReLU(inplace=True)),
        nn.Sequential(_double(64, 32), nn.ReLU(inplace=True)),
    ]
    return started(Net(encoder, LayeredDecoder(layers, nn.ConvTranspose2d(32, channels, 3, padding=1))))


def _double(inputs: int, outputs: int) -> nn.ConvTranspose2d:
    return nn.ConvTranspose2d(inputs, outputs, 3, stride=2, padding=1, output_padding=1)
