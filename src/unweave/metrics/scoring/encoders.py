"""Encoders: what the scorer uses of them, and how they are called.

Any callable from images (B, C, H, W) in [0, 1] to codes (B, D) is an encoder. The object (or the object whose method it
is) may offer more, all of it optional:

- ``discrete``: True if every latent takes one of a few values;
- ``reconstruct(images)``: images (B, C, H, W) in [0, 1];
- ``posterior(images)``: mean and log-variance (B, D) of a Gaussian posterior, unless ``has_posterior`` is False;
- ``decode(codes)``: images (B, C, H, W) in [0, 1], which figures and the page show;
- ``likelihood``: "bernoulli" or "gaussian", the likelihood of the images given their reconstructions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from unweave.errors import InputError

Encode = Callable[[Tensor], Any]


def is_discrete(encode: Encode) -> bool:
    """Return whether the encoder says that its latents take one of a few values each."""
    discrete = _offered(encode, "discrete", False)
    if not isinstance(discrete, bool):
        raise InputError(f"the encoder's attribute discrete must be True or False, got {discrete!r}.")
    return discrete


def likelihood_of(encode: Encode) -> str | None:
    """Return the likelihood that the encoder names, if any."""
    likelihood = _offered(encode, "likelihood", None)
    return likelihood if isinstance(likelihood, str) else None


def reconstruction_of(encode: Encode) -> Encode | None:
    """Return the encoder's function from images to reconstructions, if it has one."""
    function = _offered(encode, "reconstruct", None)
    return function if callable(function) else None


def decoder_of(encode: Encode) -> Encode | None:
    """Return the encoder's function from codes to images, if it has one."""
    function = _offered(encode, "decode", None)
    return function if callable(function) else None


def posterior_of(encode: Encode) -> Encode | None:
    """Return the encoder's function from images to the mean and log-variance of the posterior, if it has one."""
    function = _offered(encode, "posterior", None)
    return function if callable(function) and _offered(encode, "has_posterior", True) else None


def _offered(encode: Encode, name: str, default: Any) -> Any:
    own = getattr(encode, name, None)
    return getattr(getattr(encode, "__self__", None), name, default) if own is None else own


def check_callable(encode: Any) -> None:
    """Raise an error if an encoder is no function; several of them are for :func:`unweave.compare`."""
    if not callable(encode):
        several = isinstance(encode, list | tuple | dict)
        hint = "; pass several of them to unweave.compare, which gives one row to each" if several else ""
        raise InputError(f"an encoder must be callable, from images to codes, got {type(encode).__name__}{hint}.")


@contextmanager
def evaluating(*functions: Encode) -> Iterator[Tensor]:
    """Put the modules behind the functions into evaluation mode, without gradients; restore each module's mode after.

    Yields a tensor with the device and dtype that images should have. A module, or a method of one, is recognised; a
    plain function is given floats on the CPU.
    """
    for function in functions:
        check_callable(function)
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
