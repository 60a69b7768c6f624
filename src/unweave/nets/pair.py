"""What a net is: an encoder and a decoder that fit one another, and the image sizes that they take."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

from torch import Tensor, nn

from unweave.errors import InputError

Shape = tuple[int, int, int]  # C, H, W


class Net(NamedTuple):
    """An encoder from images (B, C, H, W) in [0, 1] to (B, outputs), and a decoder from codes (B, D) to logits."""

    encoder: nn.Module
    decoder: nn.Module


Build = Callable[[Shape, int, int], Net]  # build(shape, outputs, latents)


def started(net: Net) -> Net:
    """The pair with weights that keep a signal's size through ReLUs (He et al. 2015), and biases of 0.

    The papers' tables do not say how their nets start. PyTorch's default shrinks a signal to two fifths at every layer,
    so that at first all images have one code; quantised latents may never come out of that.
    """
    for layer in (*net.encoder.modules(), *net.decoder.modules()):
        if isinstance(layer, nn.Linear | nn.Conv2d | nn.ConvTranspose2d):
            terms = layer.weight[0].numel()  # that a unit of the output is a sum of
            if isinstance(layer, nn.ConvTranspose2d):
                terms = layer.weight[:, 0].numel() // (layer.stride[0] * layer.stride[1])
            bound = math.sqrt(6 / terms)
            nn.init.uniform_(layer.weight, -bound, bound)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    return net


class LayeredDecoder(nn.Module):
    """A decoder that is one layer after another, and shows what each of them says."""

    def __init__(self, layers: Iterable[nn.Module], output: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.output = output

    def activations(self, codes: Tensor) -> tuple[Tensor, ...]:
        """What every hidden layer makes of ``codes`` (B, D), first to last; the output layer is not computed."""
        hidden = [codes]
        for layer in self.layers:
            hidden.append(layer(hidden[-1]))
        return tuple(hidden[1:])

    def forward(self, codes: Tensor) -> Tensor:
        """Logits (B, C, H, W) of ``codes`` (B, D)."""
        logits: Tensor = self.output(self.activations(codes)[-1])
        return logits


class Flatten(nn.Module):
    """Images (B, C, H, W) as vectors (B, H · W · C): channels last, as they lie in memory, so nothing is moved."""

    def forward(self, images: Tensor) -> Tensor:
        """The vectors."""
        return images.permute(0, 2, 3, 1).flatten(1)


class Unflatten(nn.Module):
    """Vectors (B, H · W · C) as images (B, C, H, W), the inverse of :class:`Flatten`."""

    def __init__(self, channels: int, height: int, width: int) -> None:
        super().__init__()
        self.shape = (height, width, channels)

    def forward(self, vectors: Tensor) -> Tensor:
        """The images, channels last in memory."""
        return vectors.reshape(-1, *self.shape).permute(0, 3, 1, 2)


def cells(net: str, shape: Shape, step: int, *, smallest: int | None = None) -> tuple[int, int]:
    """Height and width of an image in steps of ``step`` pixels; the error names the nearest sizes that fit."""
    smallest = step if smallest is None else smallest
    _, height, width = shape
    if all(size % step == 0 and size >= smallest for size in (height, width)):
        return height // step, width // step
    below, above = (
        tuple(max(smallest, step * ((size + extra) // step)) for size in (height, width)) for extra in (0, step - 1)
    )
    near = " or ".join(f"{h} × {w}" for h, w in dict.fromkeys([below, above]))
    least = f" from {smallest} on" if smallest > step else ""
    raise InputError(
        f"net {net!r} takes heights and widths that are multiples of {step}{least}, got {height} × {width}: "
        f"resize the images to {near}, or choose the net 'mlp', which takes any size."
    )
