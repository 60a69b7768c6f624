"""A net is an encoder and a decoder that fit each other: the parts that nets are built from, and initial weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Annotated, Literal, NamedTuple, get_args

import torch
from pydantic import Field
from torch import Tensor, nn

from unweave.errors import InputError, unknown

Shape = tuple[int, int, int]  # C, H, W
Activation = Literal["relu", "gelu", "silu", "tanh"]
Width = Annotated[float, Field(gt=0, le=100)]  # multiplies the number of channels or units of every hidden layer
SLOPE = 0.2  # of the leaky ReLU below 0
Start = Literal["balanced", "pytorch", "tensorflow", "xavier_normal", "jl1"]
Layer = nn.Linear | nn.Conv2d | nn.ConvTranspose2d
GLOROT = {"tensorflow": nn.init.xavier_uniform_, "xavier_normal": nn.init.xavier_normal_}
LOG_VARIANCE = -3.0  # the bias of the log-variances in the code of Rhodes and Lee 2021


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


def convolved(net: str, shape: Shape, *, kernel: int, padding: int, times: int) -> tuple[int, int]:
    """Return height and width after several convolutions of stride 2, or raise an error if the image is too small.

    Args:
        net: The name of the net, for the message.
        shape: The shape of an image (C, H, W).
        kernel: The height and width of the kernel.
        padding: The number of rows or columns that are added on each side.
        times: The number of convolutions.

    Returns:
        Height and width of the last output.

    Examples:
        >>> [convolved("conv64", (1, 64, 64), kernel=4, padding=padding, times=4) for padding in (0, 1, 2)]
        [(2, 2), (4, 4), (5, 5)]
    """

    def after(size: int) -> int:
        for _ in range(times):
            size = (size + 2 * padding - kernel) // 2 + 1
        return size

    _, height, width = shape
    if min(after(height), after(width)) < 1:
        least = next(size for size in count(SIZES[net][1], SIZES[net][0]) if after(size) > 0)
        raise InputError(
            f"net {net!r} with padding={padding} needs at least {least} × {least} pixels, got {height} × {width}: "
            "resize the images, or use padding=1."
        )
    return after(height), after(width)


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


def start_weights(net: Net, start: Start, outputs: int, latents: int) -> None:
    """Set the initial weights of a net that has just been built.

    Args:
        net: The encoder and the decoder.
        start: ``"balanced"`` leaves the net as its function built it: the nets here with ReLUs use :func:`balanced`,
            "tripod" and "qlae" the initial weights of their authors, and your own net those that you chose. The others
            initialise every linear and convolutional layer again:

            - ``"pytorch"`` is PyTorch's default;
            - ``"tensorflow"`` is TensorFlow's, Glorot uniform weights and biases of 0 (Locatello et al. 2019);
            - ``"xavier_normal"`` has normal weights of Glorot's variance and biases of 0 (code of Michlo et al. 2023);
            - ``"jl1"`` is PyTorch's, with the biases of the log-variances at −3 (code of Rhodes and Lee 2021), so that
              codes have little noise at first.
        outputs: The number of values that the encoder returns.
        latents: The number of values that the decoder takes.
    """
    if start not in get_args(Start):
        raise unknown("start", str(start), get_args(Start))
    if start == "balanced":
        return
    for layer in _layers(net):
        if start in GLOROT:
            _glorot(layer, start)
        else:
            layer.reset_parameters()
    if start == "jl1":
        _lower_log_variances(net.encoder, outputs, latents)


def start_adversary(adversary: nn.Module, start: Start) -> None:
    """Set the initial weights of the adversary of a term as those of the model where a published code does so.

    Glorot's for ``"tensorflow"`` and ``"xavier_normal"``; the others leave PyTorch's default.
    """
    for layer in adversary.modules() if start in GLOROT else ():
        if isinstance(layer, Layer):
            _glorot(layer, start)


def balanced(net: Net) -> Net:
    """Initialise weights so that signals keep their scale through ReLUs (He et al. 2015), and biases to 0.

    The papers do not state their initial weights. PyTorch's default shrinks a signal by a factor of 0.4 per layer, so
    all images have nearly the same code at first, from which quantised latents may never recover.
    """
    for layer in _layers(net):
        terms = layer.weight[0].numel()  # terms in the sum of each output
        if isinstance(layer, nn.ConvTranspose2d):
            terms = layer.weight[:, 0].numel() // (layer.stride[0] * layer.stride[1])
        bound = math.sqrt(6 / terms)
        nn.init.uniform_(layer.weight, -bound, bound)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)
    return net


def _layers(net: Net) -> Iterator[Layer]:
    for module in (*net.encoder.modules(), *net.decoder.modules()):
        if isinstance(module, Layer):
            yield module


def _glorot(layer: Layer, start: str) -> None:
    # TensorFlow takes the two fans of a transposed convolution the other way round; only their sum matters.
    GLOROT[start](layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


def _lower_log_variances(encoder: nn.Module, outputs: int, latents: int) -> None:
    if outputs != 2 * latents:
        raise InputError(
            f"start 'jl1' sets the bias of log-variances, but the encoder has {outputs} outputs for {latents} latents: "
            "use the gaussian latent, or another start."
        )
    linear = [module for module in encoder.modules() if isinstance(module, nn.Linear)]
    if not linear or linear[-1].out_features != outputs or linear[-1].bias is None:
        raise InputError(
            "start 'jl1' needs an encoder that ends in a linear layer with a bias, which this net does not have: "
            "choose another start."
        )
    with torch.no_grad():
        linear[-1].bias[latents:] = LOG_VARIANCE
