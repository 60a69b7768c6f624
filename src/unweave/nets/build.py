"""Build a net: call its function, set the initial weights, and check the shapes of the outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from unweave.errors import InputError, whole
from unweave.nets.choice import NETS, NetSettings
from unweave.nets.pair import Build, Net, Shape
from unweave.nets.start import Start, start_weights


def build_net(
    net: NetSettings | str | Mapping[str, Any] | Build,
    shape: Shape,
    outputs: int,
    latents: int,
    *,
    start: Start = "balanced",
) -> Net:
    """Build an encoder from images (C, H, W) to ``outputs`` values and a decoder from ``latents`` values to images.

    Two samples pass through each half, so that a net of your own with wrong shapes is refused here.

    >>> encoder, decoder = build_net("conv64", (1, 64, 64), outputs=20, latents=10)
    >>> encoder(torch.zeros(5, 1, 64, 64)).shape, decoder(torch.zeros(5, 10)).shape
    (torch.Size([5, 20]), torch.Size([5, 1, 64, 64]))

    Args:
        net: Anything that :class:`NetSettings` reads: a name, a name with settings, or a function of your own.
        shape: The shape of an image (C, H, W).
        outputs: The number of values that the encoder returns.
        latents: The number of values that the decoder takes.
        start: The initial weights, see :func:`start_weights`.

    Returns:
        The encoder and the decoder.
    """
    if len(shape) != 3:
        raise InputError(f"a net is built for images (C, H, W), got the shape {tuple(shape)}.")
    channels, height, width = (whole("a net: channels, height and width", size, at_least=1) for size in shape)
    shape = (channels, height, width)
    whole("a net: outputs", outputs, at_least=1)
    whole("a net: latents", latents, at_least=1)
    chosen = NetSettings.of(net)
    if chosen.name in NETS:
        built = chosen.build(shape, outputs, latents, **chosen.arguments)
    else:
        what = f"net {chosen.name!r}"
        built = _pair(chosen.name, _guarded(what, chosen.build, shape, outputs, latents, **chosen.arguments))
    start_weights(built, start, outputs, latents)
    _try(f"the encoder of net {chosen.name!r}", built.encoder, torch.zeros(2, *shape), (2, outputs))
    _try(f"the decoder of net {chosen.name!r}", built.decoder, torch.zeros(2, latents), (2, *shape))
    return built


def _pair(name: str, built: object) -> Net:
    if isinstance(built, tuple) and len(built) == 2 and all(isinstance(part, nn.Module) for part in built):
        return Net(*built)
    raise InputError(f"net {name!r} must return an encoder and a decoder, two torch modules, got {_shown(built)}.")


def _try(what: str, module: nn.Module, batch: Tensor, expected: tuple[int, ...]) -> None:
    """Pass two samples through a module, in evaluation mode and without gradients, and check the output's shape."""
    parameter = next(module.parameters(), batch)
    before = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        with torch.no_grad():
            out = _guarded(what, module, batch.to(parameter.device, parameter.dtype))
    finally:
        for part, training in before:
            part.training = training
    if not isinstance(out, Tensor) or tuple(out.shape) != expected:
        raise InputError(f"{what} must map {tuple(batch.shape)} to {expected}, got {_shown(out)}.")


def _guarded(what: str, function: Callable[..., object], *arguments: object, **settings: object) -> object:
    try:
        return function(*arguments, **settings)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{what} failed: {_message(error)}.") from error


def _message(error: Exception) -> str:
    first = str(error).strip().partition("\n")[0].rstrip(".")
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _shown(value: object) -> str:
    if isinstance(value, Tensor):
        return str(tuple(value.shape))
    if isinstance(value, tuple | list):
        return f"{type(value).__name__} of {', '.join(type(part).__name__ for part in value) or 'nothing'}"
    return type(value).__name__
