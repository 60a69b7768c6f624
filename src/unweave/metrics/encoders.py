"""Calling an encoder of somebody else's: in evaluation, without gradients, on its own device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from unweave.errors import InputError

Encode = Callable[[Tensor], Any]


@contextmanager
def evaluating(*functions: Encode) -> Iterator[Tensor]:
    """While modules behind the functions are in evaluation, each put back after: a tensor as images should be.

    Its device and type are theirs. A module, or a method of one, is recognised; a plain function is taken to do as it
    should with floats on the CPU.
    """
    for function in functions:
        if not callable(function):
            raise InputError(f"an encoder must be callable, from images to codes, got {type(function).__name__}.")
    modules = [module for function in functions for module in _modules(function)]
    were = [(module, module.training) for module in modules]
    parameter = next(
        (parameter for module in modules for parameter in module.parameters() if parameter.is_floating_point()), None
    )
    for module in modules:
        module.training = False
    try:
        with torch.no_grad():
            yield torch.empty(()) if parameter is None else parameter.detach()
    finally:
        for module, training in were:
            module.training = training


def _modules(function: object) -> list[nn.Module]:
    owner = function if isinstance(function, nn.Module) else getattr(function, "__self__", None)
    return list(owner.modules()) if isinstance(owner, nn.Module) else []
