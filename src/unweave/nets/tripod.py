"""The residual net of Tripod: instance norms in the encoder, adaptive ones in the decoder (Hsu et al. 2024).

The paper only names the family (Dhariwal and Nichol 2021), so widths and order follow the authors' code: group norms
with one channel per group, GELU in its tanh form, nearest-neighbour upsampling before a 3 × 3 convolution.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unweave.nets.pair import Activation, Net, Shape, Width, activation_layer, cells, scaled


def tripod(
    shape: Shape,
    outputs: int,
    latents: int,
    *,
    activation: Activation = "gelu",
    width: Width = 1.0,
    normalised: bool = False,
) -> Net:
    """Four stages of two residual blocks each way. Sizes are multiples of 16, at least 32.

    At 16 pixels the decoder's first stage would see 1 × 1 features, which an instance norm makes zero.

    Args:
        shape: The shape of an image (C, H, W).
        outputs: The number of values that the encoder returns.
        latents: The number of values that the decoder takes.
        activation: The activation of hidden layers.
        width: What the number of channels and units of every hidden layer is multiplied by.
        normalised: Whether an instance norm without parameters follows the first three stages of the decoder, as naive
            Tripod has for its Hessian penalty.

    Returns:
        The encoder and the decoder.
    """
    channels = shape[0]
    rows, columns = cells("tripod", shape)
    decoder = Decoder((channels, rows, columns), latents, activation, width, normalised=normalised)
    return Net(Encoder(channels, outputs, activation, width), decoder)


class Encoder(nn.Module):
    """Map images (B, C, H, W) in [0, 1], shifted to [−1, 1], to (B, outputs).

    Args:
        channels: The number of channels of an image, C.
        outputs: The number of values that it returns for an image.
        activation: The activation of hidden layers.
        width: What the number of channels and units of every hidden layer is multiplied by.
    """

    def __init__(self, channels: int, outputs: int, activation: Activation, width: float) -> None:
        super().__init__()
        stages: list[nn.Module] = []
        into = channels
        for count in (32, 64, 128, 256):
            units, following = scaled(count, width), scaled(2 * count, width)
            down = nn.Sequential(nn.PixelUnshuffle(2), nn.Conv2d(4 * units, following, 1))
            stages += [_Residual(into, units, activation), _Residual(units, units, activation), down]
            into = following
        self.stages = nn.Sequential(*stages)
        self.head = nn.Sequential(_full(into, into, activation), nn.Linear(into, outputs))

    def forward(self, images: Tensor) -> Tensor:
        """Return the outputs (B, outputs)."""
        features = self.stages(2 * images - 1)  # (B, 512, H / 16, W / 16)
        out: Tensor = self.head(features.mean((2, 3)))
        return out


class Decoder(nn.Module):
    """Grow a learned constant into images (B, C, H, W), with norms scaled and shifted by codes (B, D).

    Args:
        shape: The number of channels of an image, and the height and width of the constant (C, H / 16, W / 16).
        latents: The number of values in a code, D.
        activation: The activation of hidden layers.
        width: What the number of channels and units of every hidden layer is multiplied by.
        normalised: Whether an instance norm without parameters follows the first three stages.
    """

    def __init__(
        self, shape: Shape, latents: int, activation: Activation, width: float, *, normalised: bool = False
    ) -> None:
        super().__init__()
        channels, rows, columns = shape
        self.normalised = normalised
        widths = [*(scaled(count, width) for count in (512, 256, 128, 64)), channels]
        condition = scaled(256, width)
        self.constant = nn.Parameter(torch.ones(widths[0], rows, columns))
        self.condition = nn.Sequential(_full(latents, condition, activation), _full(condition, condition, activation))
        self.stages = nn.ModuleList([_Stage(*pair, condition, activation) for pair in pairwise(widths)])

    def activations(self, codes: Tensor) -> tuple[Tensor, ...]:
        """Return the condition (B, 256) and the outputs of the first three stages, from (B, 256, H / 8, W / 8) on."""
        condition = self.condition(codes)
        features = self.constant[None]  # shared by the batch until the condition enters
        hidden = [condition]
        for stage in list(self.stages)[:-1]:
            features = stage(features, condition)
            if self.normalised:
                features = F.instance_norm(features)
            hidden.append(features)
        return tuple(hidden)

    def forward(self, codes: Tensor) -> Tensor:
        """Return logits (B, C, H, W)."""
        return self.finish(self.activations(codes))

    def finish(self, hidden: Sequence[Tensor]) -> Tensor:
        """Return the logits of codes from their activations, so that a penalty on these can share them."""
        condition, *_, features = hidden
        logits: Tensor = self.stages[-1](features, condition)
        return logits


class _Residual(nn.Module):
    def __init__(self, inputs: int, outputs: int, activation: Activation) -> None:
        super().__init__()
        self.body = nn.Sequential(*_normed(inputs, outputs, activation), *_normed(outputs, outputs, activation))
        self.skip = nn.Identity() if inputs == outputs else nn.Conv2d(inputs, outputs, 1)

    def forward(self, features: Tensor) -> Tensor:
        out: Tensor = self.skip(features) + self.body(features)
        return out


class _Stage(nn.Module):
    """Two modulated residual blocks, then upsampling by 2."""

    def __init__(self, inputs: int, outputs: int, condition: int, activation: Activation) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([_Modulated(inputs, condition, activation) for _ in range(4)])
        self.up = _Up(nn.Upsample(scale_factor=2, mode="nearest"), nn.Conv2d(inputs, outputs, 3, padding=1))

    def forward(self, features: Tensor, condition: Tensor) -> Tensor:
        first, second, third, fourth = self.blocks
        features = features + second(first(features, condition), condition)
        features = features + fourth(third(features, condition), condition)
        out: Tensor = self.up(features)
        return out


class _Up(nn.Sequential):
    """Nearest-neighbour upsampling by 2 and a 3 × 3 convolution, computed as one transposed convolution of stride 2.

    Its 4 × 4 kernel is that of the convolution, added to itself at the four pixels that upsampling makes of one, and
    it needs 16 instead of 36 multiplications per input pixel. Values are the same up to rounding.
    """

    def forward(self, features: Tensor) -> Tensor:
        conv = self[1]
        assert isinstance(conv, nn.Conv2d)
        kernel = conv.weight.transpose(0, 1).flip(2, 3)  # (inputs, outputs, 3, 3)
        kernel = F.pad(kernel, (0, 0, 0, 1)) + F.pad(kernel, (0, 0, 1, 0))  # (inputs, outputs, 4, 3)
        kernel = F.pad(kernel, (0, 1)) + F.pad(kernel, (1, 0))  # (inputs, outputs, 4, 4)
        kernel = kernel.contiguous(memory_format=torch.channels_last)  # else the next layers are slower
        return F.conv_transpose2d(features, kernel, conv.bias, stride=2, padding=1)


class _Modulated(nn.Module):
    """Convolution, instance norm, scale and shift by the condition, activation."""

    def __init__(self, width: int, condition: int, activation: Activation) -> None:
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.GroupNorm(width, width, affine=False)
        self.steer = nn.Linear(condition, 2 * width)
        self.activation = activation_layer(activation)

    def forward(self, features: Tensor, condition: Tensor) -> Tensor:
        scale, shift = self.steer(condition)[:, :, None, None].chunk(2, dim=1)  # (B, width, 1, 1) each
        normed = self.norm(self.conv(features))
        out: Tensor = self.activation(normed * (1 + scale) + shift)
        return out


def _normed(inputs: int, outputs: int, activation: Activation) -> list[nn.Module]:
    conv = nn.Conv2d(inputs, outputs, 3, padding=1)
    return [conv, nn.GroupNorm(outputs, outputs), activation_layer(activation)]


def _full(inputs: int, outputs: int, activation: Activation) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, outputs), nn.LayerNorm(outputs), activation_layer(activation))
