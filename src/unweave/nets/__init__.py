"""Nets: encoders and decoders of the four papers, and the way to bring one's own."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from unweave.errors import InputError, whole
from unweave.nets.conv16 import conv16
from unweave.nets.conv64 import conv64
from unweave.nets.linear import linear
from unweave.nets.mlp import mlp
from unweave.nets.pair import Build, Net, Shape
from unweave.nets.qlae import qlae
from unweave.nets.tripod import tripod
from unweave.settings import name_in, named

__all__ = ["NETS", "Build", "Net", "Shape", "build_net", "name_of"]

NETS: dict[str, Build] = {
    "conv64": conv64,
    "conv16": conv16,
    "tripod": tripod,
    "qlae": qlae,
    "mlp": mlp,
    "linear": linear,
}


def build_net(net: str | Build, shape: Shape, outputs: int, latents: int) -> Net:
    """The pair for images (C, H, W), an encoder of ``outputs`` values and a decoder of ``latents`` codes, tried once.

    ``net`` is a name in :data:`NETS`, ``"package.module:function"``, or a function ``(shape, outputs, latents)`` that
    returns an encoder and a decoder.

    >>> encoder, decoder = build_net("conv64", (1, 64, 64), outputs=20, latents=10)
    >>> encoder(torch.zeros(5, 1, 64, 64)).shape, decoder(torch.zeros(5, 10)).shape
    (torch.Size([5, 20]), torch.Size([5, 1, 64, 64]))
    """
    if len(shape) != 3:
        raise InputError(f"a net is built for images (C, H, W), got the shape {tuple(shape)}.")
    channels, height, width = (whole("a net: channels, height and width", size, at_least=1) for size in shape)
    shape = (channels, height, width)
    whole("a net: outputs", outputs, at_least=1)
    whole("a net: latents", latents, at_least=1)
    build = named("net", net, NETS) if isinstance(net, str) else net
    name = name_of(net)
    if NETS.get(name) is build:
        built = build(shape, outputs, latents)
    else:
        built = _pair(name, _guarded(f"net {name!r}", build, shape, outputs, latents))
    _try(f"the encoder of net {name!r}", built.encoder, torch.zeros(2, *shape), (2, outputs))
    _try(f"the decoder of net {name!r}", built.decoder, torch.zeros(2, latents), (2, *shape))
    return built


def name_of(net: str | Build) -> str:
    """The name under which :func:`build_net` finds a net again: ours, or ``module:function``."""
    return net if isinstance(net, str) else name_in(NETS, net)


def _pair(name: str, built: object) -> Net:
    if isinstance(built, tuple) and len(built) == 2 and all(isinstance(part, nn.Module) for part in built):
        return Net(*built)
    raise InputError(f"net {name!r} must return an encoder and a decoder, two torch modules, got {_shown(built)}.")


def _try(what: str, module: nn.Module, batch: Tensor, expected: tuple[int, ...]) -> None:
    """Run two samples through, in evaluation and without gradients, and compare the shape that comes out."""
    parameter = next(module.parameters(), batch)
    were = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        with torch.no_grad():
            out = _guarded(what, module, batch.to(parameter.device, parameter.dtype))
    finally:
        for part, training in were:
            part.training = training
    if not isinstance(out, Tensor) or tuple(out.shape) != expected:
        raise InputError(f"{what} must turn {tuple(batch.shape)} into {expected}, got {_shown(out)}.")


def _guarded(what: str, function: Callable[..., object], *arguments: object) -> object:
    try:
        return function(*arguments)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{what} failed: {_said(error)}.") from error


def _said(error: Exception) -> str:
    first = str(error).strip().partition("\n")[0].rstrip(".")
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _shown(value: object) -> str:
    if isinstance(value, Tensor):
        return str(tuple(value.shape))
    if isinstance(value, tuple | list):
        return f"{type(value).__name__} of {', '.join(type(part).__name__ for part in value) or 'nothing'}"
    return type(value).__name__
