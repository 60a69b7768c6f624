"""The settings that nets share: which activation follows a hidden layer, and how wide hidden layers are."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from torch import nn

Activation = Literal["relu", "gelu", "silu", "tanh"]
Width = Annotated[float, Field(gt=0, le=100)]  # multiplies the number of channels or units of every hidden layer
SLOPE = 0.2  # of the leaky ReLU below 0


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
