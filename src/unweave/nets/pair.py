"""A net is an encoder and a decoder that fit each other. This file has the parts that several nets are built from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Literal, NamedTuple

from pydantic import Field
from torch import Tensor, nn

from unweave.errors import InputError

Shape = tuple[int, int, int]  # C, H, W
Activation = Literal["relu", "gelu", "silu", "tanh"]
Width = Annotated[float, Field(gt=0, le=100)]  # multiplies the number of channels or units of every hidden layer
SLOPE = 0.2  # of the leaky ReLU below 0


class Net(NamedTuple):
    """An encoder from images (B, C, H, W) in [0, 1] to (B, outputs), and a decoder from codes (B, D) to logits."""

    encoder: nn.Module
    decoder: nn.Module


Build = Callable[..., Net]  # build(shape, outputs, latents, **settings)


class LayeredDecoder(nn.Module):
    """A sequence of layers that can return the activation of each."""

    def __init__(self, layers: Iterable[nn.Module], output: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.output = output

    def activations(self, codes: Tensor) -> tuple[Tensor, ...]:
        """Return the outputs of all hidden layers for ``codes`` (B, D), first to last. Skips the output layer."""
        hidden = [codes]
        for layer in self.layers:
            hidden.append(layer(hidden[-1]))
        return tuple(hidden[1:])

    def forward(self, codes: Tensor) -> Tensor:
        """Return logits (B, C, H, W) of ``codes`` (B, D)."""
        logits: Tensor = self.output(self.activations(codes)[-1])
        return logits


class Flatten(nn.Module):
    """Flatten images (B, C, H, W) to vectors (B, H · W · C). Needs no copy if memory is channels-last."""

    def forward(self, images: Tensor) -> Tensor:
        """Return the vectors."""
        return images.permute(0, 2, 3, 1).flatten(1)


class Unflatten(nn.Module):
    """Reshape vectors (B, H · W · C) to images (B, C, H, W), the inverse of :class:`Flatten`."""

    def __init__(self, channels: int, height: int, width: int) -> None:
        super().__init__()
        self.shape = (height, width, channels)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return the images, channels last in memory."""
        return vectors.reshape(-1, *self.shape).permute(0, 3, 1, 2)


SIZES = {  # a step, and the smallest size
    "conv64": (16, 16),
    "conv16": (4, 4),
    "burgess": (16, 16),
    "qlae": (16, 32),
    "tripod": (16, 32),
}


def cells(net: str, shape: Shape) -> tuple[int, int]:
    """Return height and width divided by the step of a net, or raise an error that names the closest valid sizes."""
    step, smallest = SIZES[net]
    _, height, width = shape
    if all(size % step == 0 and size >= smallest for size in (height, width)):
        return height // step, width // step
    below, above = (
        tuple(max(smallest, step * ((size + extra) // step)) for size in (height, width)) for extra in (0, step - 1)
    )
    near = " or ".join(f"{h} × {w}" for h, w in dict.fromkeys([below, above]))
    least = f", at least {smallest}" if smallest > step else ""
    raise InputError(
        f"net {net!r} needs images whose height and width are multiples of {step}{least}, got {height} × {width}: "
        f"resize the images to {near}, or use the net 'mlp', which accepts any size.",
        setting="net",
        value=net,
    )


def convolved(size: int, *, kernel: int, padding: int, times: int) -> int:
    """Return the height or width after several convolutions of stride 2; below 1 if the image is too small.

    >>> [convolved(64, kernel=4, padding=padding, times=4) for padding in (0, 1, 2)]
    [2, 4, 5]
    """
    for _ in range(times):
        size = (size + 2 * padding - kernel) // 2 + 1
    return size


def activation_layer(name: Activation | Literal["leaky_relu"], *, inplace: bool = False) -> nn.Module:
    """Return the activation as a module. GELU is its tanh approximation, which Tripod's authors use.

    ``inplace`` saves memory where an activation has an in-place form. Use it only after a layer whose gradient does
    not need its own output, such as a convolution.
    """
    if name == "relu":
        return nn.ReLU(inplace)
    if name == "leaky_relu":
        return nn.LeakyReLU(SLOPE, inplace)
    return {"gelu": nn.GELU(approximate="tanh"), "silu": nn.SiLU(), "tanh": nn.Tanh()}[name]


def scaled(units: int, width: float) -> int:
    """Multiply a number of channels or units by ``width``, rounded, at least 1.

    >>> scaled(32, 0.25), scaled(32, 0.001)
    (8, 1)
    """
    return max(1, round(units * width))
