"""The residual pair of Tripod: instance norm going in, adaptive instance norm coming out (Hsu et al. 2024).

The paper names the family only (Dhariwal and Nichol 2021), so widths and order are those of the authors' code: group
norms with one channel a group, GELU in its tanh form, nearest-neighbour upsampling before a 3 × 3 convolution.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unweave.nets.pair import Net, Shape, cells

_CONDITION = 256  # width of the vector that steers the decoder


def tripod(shape: Shape, outputs: int, latents: int) -> Net:
    """Four stages of two residual blocks each way, for sizes that are multiples of 16, from 32 on.

    At 16 pixels the decoder's first stage would see 1 × 1 features, of which an instance norm leaves nothing.
    """
    rows, columns = cells("tripod", shape, 16, smallest=32)
    return Net(Encoder(shape[0], outputs), Decoder(shape[0], rows, columns, latents))


class Encoder(nn.Module):
    """Images (B, C, H, W) in [0, 1], shifted to [−1, 1], to (B, outputs)."""

    def __init__(self, channels: int, outputs: int) -> None:
        super().__init__()
        stages: list[nn.Module] = []
        into = channels
        for width in (32, 64, 128, 256):
            down = nn.Sequential(nn.PixelUnshuffle(2), nn.Conv2d(4 * width, 2 * width, 1))
            stages += [_Residual(into, width), _Residual(width, width), down]
            into = 2 * width
        self.stages = nn.Sequential(*stages)
        self.head = nn.Sequential(_full(512, 512), nn.Linear(512, outputs))

    def forward(self, images: Tensor) -> Tensor:
        """The outputs (B, outputs)."""
        features = self.stages(2 * images - 1)  # (B, 512, H / 16, W / 16)
        out: Tensor = self.head(features.mean((2, 3)))
        return out


class Decoder(nn.Module):
    """Codes (B, D) steer, by the norms' scales and shifts, how a learned constant grows into images (B, C, H, W)."""

    def __init__(self, channels: int, rows: int, columns: int, latents: int) -> None:
        super().__init__()
        self.constant = nn.Parameter(torch.ones(512, rows, columns))
        self.condition = nn.Sequential(_full(latents, _CONDITION), _full(_CONDITION, _CONDITION))
        self.stages = nn.ModuleList([_Stage(512, 256), _Stage(256, 128), _Stage(128, 64), _Stage(64, channels)])

    def activations(self, codes: Tensor) -> tuple[Tensor, ...]:
        """The condition (B, 256), and what the first three stages make of it: (B, 256, H / 8, W / 8) and on."""
        condition = self.condition(codes)
        features = self.constant[None]  # one for the whole batch, until the first norm is steered
        hidden = [condition]
        for stage in list(self.stages)[:-1]:
            features = stage(features, condition)
            hidden.append(features)
        return tuple(hidden)

    def forward(self, codes: Tensor) -> Tensor:
        """Logits (B, C, H, W)."""
        condition, *_, features = self.activations(codes)
        logits: Tensor = self.stages[-1](features, condition)
        return logits


class _Residual(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.body = nn.Sequential(*_normed(inputs, outputs), *_normed(outputs, outputs))
        self.skip = nn.Identity() if inputs == outputs else nn.Conv2d(inputs, outputs, 1)

    def forward(self, features: Tensor) -> Tensor:
        out: Tensor = self.skip(features) + self.body(features)
        return out


class _Stage(nn.Module):
    """Two steered residual blocks, then twice the size."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([_Steered(inputs) for _ in range(4)])
        self.up = nn.Sequential(nn.Upsample(scale_factor=2, mode="nearest"), nn.Conv2d(inputs, outputs, 3, padding=1))

    def forward(self, features: Tensor, condition: Tensor) -> Tensor:
        first, second, third, fourth = self.blocks
        features = features + second(first(features, condition), condition)
        features = features + fourth(third(features, condition), condition)
        out: Tensor = self.up(features)
        return out


class _Steered(nn.Module):
    """Convolution, instance norm, scale and shift by the condition, GELU."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.GroupNorm(width, width, affine=False)
        self.steer = nn.Linear(_CONDITION, 2 * width)

    def forward(self, features: Tensor, condition: Tensor) -> Tensor:
        scale, shift = self.steer(condition)[:, :, None, None].chunk(2, dim=1)  # (B, width, 1, 1) each
        normed = self.norm(self.conv(features))
        return nn.functional.gelu(normed * (1 + scale) + shift, approximate="tanh")


def _normed(inputs: int, outputs: int) -> list[nn.Module]:
    conv = nn.Conv2d(inputs, outputs, 3, padding=1)
    return [conv, nn.GroupNorm(outputs, outputs), nn.GELU(approximate="tanh")]


def _full(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, outputs), nn.LayerNorm(outputs), nn.GELU(approximate="tanh"))
