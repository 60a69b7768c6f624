"""Initial weights: balanced, or those of a published implementation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, get_args

import torch
from torch import nn

from unweave.errors import InputError, unknown
from unweave.nets.pair import Net

Start = Literal["balanced", "pytorch", "tensorflow", "xavier_normal", "jl1"]
Layer = nn.Linear | nn.Conv2d | nn.ConvTranspose2d
GLOROT = {"tensorflow": nn.init.xavier_uniform_, "xavier_normal": nn.init.xavier_normal_}
LOG_VARIANCE = -3.0  # the bias of the log-variances in the code of Rhodes and Lee 2021


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
