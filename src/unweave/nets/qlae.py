"""The net of QLAE: twelve convolutions each way, the decoder's modulated by a style vector (Hsu et al. 2023, code).

The layers follow the authors' code, including two peculiarities: the decoder applies its activation before the norm,
and scales and shifts pass through a ReLU, so that they are never negative.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

from unweave.nets.pair import Activation, Flatten, Net, Shape, Width, activation_layer, cells, scaled

_EPSILON = 1e-6  # of the instance norms, as in the authors' code
_STAGE = ((3, 1), (3, 1), (4, 2))  # kernel and stride of a stage's three convolutions, all padded by 1
_Hidden = Activation | Literal["leaky_relu"]


def qlae(shape: Shape, outputs: int, latents: int, *, activation: _Hidden = "leaky_relu", width: Width = 1.0) -> Net:
    """Four stages of three convolutions each way. Sizes are multiples of 16, at least 32.

    At 16 pixels the encoder's last instance norm would see 1 × 1 features, which it makes zero.

    Args:
        shape: The shape of an image (C, H, W).
        outputs: The number of values that the encoder returns.
        latents: The number of values that the decoder takes.
        activation: With ``"leaky_relu"``, the authors' choice, linear layers have ReLUs; any other is used for both.
        width: What the number of channels and units of every hidden layer is multiplied by.

    Returns:
        The encoder and the decoder.
    """
    channels = shape[0]
    rows, columns = cells("qlae", shape)
    widths = [channels, *(scaled(units, width) for units in (32, 64, 128, 256) for _ in _STAGE)]
    convolutions = [
        layer
        for (inputs, units), (kernel, stride) in zip(pairwise(widths), 4 * _STAGE, strict=True)
        for layer in (
            nn.Conv2d(inputs, units, kernel, stride, padding=1, bias=False),
            nn.GroupNorm(units, units, eps=_EPSILON),
            activation_layer(activation, inplace=True),
        )
    ]
    units, last = scaled(256, width), widths[-1]
    full = [_full(last * rows * columns, units, activation), _full(units, units, activation)]
    encoder = nn.Sequential(*convolutions, Flatten(), *(layer for pair in full for layer in pair))
    encoder.append(nn.Linear(units, outputs))
    return Net(encoder, Decoder((channels, rows, columns), latents, activation, width))


class Decoder(nn.Module):
    """Grow a learned constant into images (B, C, H, W), with features scaled and shifted by codes (B, D).

    Args:
        shape: The number of channels of an image, and the height and width of the constant (C, H / 16, W / 16).
        latents: The number of values in a code, D.
        activation: The activation of hidden layers; with ``"leaky_relu"``, linear layers have ReLUs.
        width: What the number of channels and units of every hidden layer is multiplied by.
    """

    def __init__(self, shape: Shape, latents: int, activation: _Hidden, width: float) -> None:
        super().__init__()
        channels, rows, columns = shape
        widths = [scaled(units, width) for units in (256, 256, 128, 64, 32)]
        style = scaled(256, width)
        self.constant = nn.Parameter(torch.full((widths[0], rows, columns), 0.1))
        self.style = nn.Sequential(*_full(latents, style, activation), *_full(style, style, activation))
        self.stages = nn.ModuleList([_Stage(*pair, style, activation) for pair in pairwise(widths)])
        self.output = nn.Conv2d(widths[-1], channels, 3, padding=1, bias=False)

    def activations(self, codes: Tensor) -> tuple[Tensor, ...]:
        """Return the style (B, 256) and the outputs of the four stages, the last (B, 32, H, W)."""
        style = self.style(codes)
        features = self.constant[None]  # shared by the batch until the style enters
        hidden = [style]
        for stage in self.stages:
            features = stage(features, style)
            hidden.append(features)
        return tuple(hidden)

    def forward(self, codes: Tensor) -> Tensor:
        """Return logits (B, C, H, W)."""
        logits: Tensor = self.output(self.activations(codes)[-1])
        return logits


class _Stage(nn.Module):
    def __init__(self, inputs: int, outputs: int, style: int, activation: _Hidden) -> None:
        super().__init__()
        widths = pairwise((inputs, outputs, outputs, outputs))
        self.layers = nn.ModuleList(
            [
                _Modulated(*pair, kernel, stride, style, activation)
                for pair, (kernel, stride) in zip(widths, _STAGE, strict=True)
            ]
        )

    def forward(self, features: Tensor, style: Tensor) -> Tensor:
        for layer in self.layers:
            features = layer(features, style)
        return features


class _Modulated(nn.Module):
    """Transposed convolution, activation, instance norm, then scale and shift by the style."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, style: int, activation: _Hidden) -> None:
        super().__init__()
        self.conv = nn.ConvTranspose2d(inputs, outputs, kernel, stride, padding=1, bias=False)
        self.activation = activation_layer(activation, inplace=True)
        self.norm = nn.GroupNorm(outputs, outputs, eps=_EPSILON, affine=False)
        self.steer = nn.Sequential(*_full(style, 2 * outputs, activation))

    def forward(self, features: Tensor, style: Tensor) -> Tensor:
        scale, shift = self.steer(style)[:, :, None, None].chunk(2, dim=1)  # (B, outputs, 1, 1) each
        out: Tensor = self.norm(self.activation(self.conv(features))) * scale + shift
        return out


def _full(inputs: int, outputs: int, activation: _Hidden) -> tuple[nn.Module, nn.Module]:
    return nn.Linear(inputs, outputs), activation_layer("relu" if activation == "leaky_relu" else activation)
