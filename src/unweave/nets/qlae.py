"""The pair of QLAE: twelve convolutions each way, the decoder's steered by a style vector (Hsu et al. 2023, code).

Layer for layer as the authors' code has it, where two things surprise: the decoder's activation comes before its norm,
and the scales and shifts pass a ReLU, so that neither is ever negative.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from unweave.nets.pair import Flatten, Net, Shape, cells

_STYLE = 256  # width of the vector that steers the decoder
_EPSILON = 1e-6  # of the instance norms, the authors' own
_STAGE = ((3, 1), (3, 1), (4, 2))  # kernel and stride of a stage's three convolutions, all padded by 1


def qlae(shape: Shape, outputs: int, latents: int) -> Net:
    """Four stages of three convolutions each way, for sizes that are multiples of 16, from 32 on.

    At 16 pixels the encoder's last instance norm would see 1 × 1 features and leave nothing of the image.
    """
    channels = shape[0]
    rows, columns = cells("qlae", shape, 16, smallest=32)
    widths = [channels, *(width for width in (32, 64, 128, 256) for _ in _STAGE)]
    convolutions = [
        layer
        for (inputs, width), (kernel, stride) in zip(pairwise(widths), 4 * _STAGE, strict=True)
        for layer in (
            nn.Conv2d(inputs, width, kernel, stride, padding=1, bias=False),
            nn.GroupNorm(width, width, eps=_EPSILON),
            nn.LeakyReLU(0.2, inplace=True),
        )
    ]
    full = [nn.Linear(256 * rows * columns, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, outputs)]
    encoder = nn.Sequential(*convolutions, Flatten(), *full)
    return Net(encoder, Decoder(channels, rows, columns, latents))


class Decoder(nn.Module):
    """Codes (B, D) steer, by scales and shifts, how a learned constant grows into images (B, C, H, W)."""

    def __init__(self, channels: int, rows: int, columns: int, latents: int) -> None:
        super().__init__()
        self.constant = nn.Parameter(torch.full((256, rows, columns), 0.1))
        self.style = nn.Sequential(nn.Linear(latents, _STYLE), nn.ReLU(), nn.Linear(_STYLE, _STYLE), nn.ReLU())
        self.stages = nn.ModuleList([_Stage(*widths) for widths in pairwise((256, 256, 128, 64, 32))])
        self.output = nn.Conv2d(32, channels, 3, padding=1, bias=False)

    def activations(self, codes: Tensor) -> tuple[Tensor, ...]:
        """The style (B, 256), and what each of the four stages makes of it, the last (B, 32, H, W)."""
        style = self.style(codes)
        features = self.constant[None]  # one for the whole batch, until the first norm is steered
        hidden = [style]
        for stage in self.stages:
            features = stage(features, style)
            hidden.append(features)
        return tuple(hidden)

    def forward(self, codes: Tensor) -> Tensor:
        """Logits (B, C, H, W)."""
        logits: Tensor = self.output(self.activations(codes)[-1])
        return logits


class _Stage(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        widths = pairwise((inputs, outputs, outputs, outputs))
        self.layers = nn.ModuleList(
            [_Steered(*pair, kernel, stride) for pair, (kernel, stride) in zip(widths, _STAGE, strict=True)]
        )

    def forward(self, features: Tensor, style: Tensor) -> Tensor:
        for layer in self.layers:
            features = layer(features, style)
        return features


class _Steered(nn.Module):
    """Transposed convolution, leaky ReLU, instance norm, scale and shift by the style."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int) -> None:
        super().__init__()
        self.conv = nn.ConvTranspose2d(inputs, outputs, kernel, stride, padding=1, bias=False)
        self.norm = nn.GroupNorm(outputs, outputs, eps=_EPSILON, affine=False)
        self.steer = nn.Sequential(nn.Linear(_STYLE, 2 * outputs), nn.ReLU())

    def forward(self, features: Tensor, style: Tensor) -> Tensor:
        scale, shift = self.steer(style)[:, :, None, None].chunk(2, dim=1)  # (B, outputs, 1, 1) each
        hidden = nn.functional.leaky_relu(self.conv(features), 0.2, inplace=True)
        out: Tensor = self.norm(hidden) * scale + shift
        return out
