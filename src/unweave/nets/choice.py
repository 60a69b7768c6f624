"""Choose a net by name or by function, read its settings from the signature, build it, and check its outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, ClassVar

import torch
from pydantic import Field, model_serializer, model_validator
from pydantic_core import PydanticSerializationError
from torch import Tensor, nn

from unweave.errors import InputError, first_line, whole
from unweave.nets.burgess import burgess
from unweave.nets.conv16 import conv16
from unweave.nets.conv64 import conv64
from unweave.nets.linear import linear
from unweave.nets.mlp import mlp
from unweave.nets.pair import Build, Net, Shape, Start, start_weights
from unweave.nets.qlae import qlae
from unweave.nets.tripod import tripod
from unweave.settings import Settings, key_in, keyword_settings, name_in, named

NETS: dict[str, Build] = {
    "conv64": conv64,
    "conv16": conv16,
    "burgess": burgess,
    "tripod": tripod,
    "qlae": qlae,
    "mlp": mlp,
    "linear": linear,
}


class NetSettings(Settings):
    """A net and all of its settings, defaults included; written as ``{"name": "conv64", "activation": "relu", …}``.

    Reads such a mapping with any of the settings, a name in :data:`NETS`, a ``"package.module:function"``, or a
    function ``(shape, outputs, latents, *, …)``. The settings of a net are the keyword arguments of its function.

    >>> NetSettings(name="conv64", width=0.5).model_dump()
    {'name': 'conv64', 'activation': 'relu', 'width': 0.5}
    """

    title: ClassVar[str] = "the net"
    name: str
    settings: dict[str, Any] = Field(default_factory=dict)

    def __init__(self, name: str | None = None, **settings: Any) -> None:
        super().__init__(name=name, **settings)

    @classmethod
    def of(cls, net: NetSettings | str | Mapping[str, Any] | Build) -> NetSettings:
        """Return the settings of a net that is given in any of the accepted forms."""
        return net if isinstance(net, NetSettings) else cls(**_flat(net))

    @property
    def build(self) -> Build:
        """The function that builds the net."""
        return _build(self.name)

    @property
    def arguments(self) -> dict[str, Any]:
        """The settings as the keyword arguments of the function."""
        return dict(_settings_model(self.name, self.build)(**self.settings))

    @model_validator(mode="before")
    @classmethod
    def _resolve(cls, given: Any) -> Any:
        settings = _flat(given)
        name = settings.pop("name", None)
        if not isinstance(name, str):
            raise InputError(f"a net needs a name, one of {', '.join(NETS)} or 'module:function', got {given!r}.")
        name = key_in(NETS, name)
        build = _build(name)
        resolved = _settings_model(name, build)(**settings).model_dump(mode="json") if settings else {}
        return {"name": name, "settings": {**_defaults(name, build), **resolved}}

    @model_serializer
    def _flatten(self) -> dict[str, Any]:
        return {"name": self.name, **self.settings}


def net_settings_of(net: str | Build) -> dict[str, Any]:
    """Return the settings of a net and their defaults.

    >>> net_settings_of("conv64")
    {'activation': 'relu', 'width': 1.0, 'padding': 1}
    """
    name = name_of(net)
    fields = _settings_model(name, _build(name)).model_fields
    return {setting: field.default for setting, field in fields.items()}


def name_of(net: str | Build) -> str:
    """Return the name by which a net is found again: one in :data:`NETS`, or ``module:function``."""
    return net if isinstance(net, str) else name_in(NETS, net)


def _flat(given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return {str(key): value for key, value in given.items()}
    if isinstance(given, str) or callable(given):
        return {"name": name_of(given)}
    raise InputError(f"a net must be a name, a mapping with a name, or a function, got {given!r}.")


@lru_cache(maxsize=1024)
def _defaults(name: str, build: Build) -> dict[str, Any]:
    try:
        return _settings_model(name, build)().model_dump(mode="json")
    except PydanticSerializationError as error:
        raise InputError(f"net {name}: the default of a setting cannot be written as JSON ({error}).") from error


def _settings_model(name: str, build: Build) -> type[Settings]:
    """Return the type that checks the settings of a net, which follow ``shape``, ``outputs`` and ``latents``."""
    return keyword_settings(build, f"net {name}", skip=3)


def _build(name: str) -> Build:
    build = named("net", name, NETS)
    if not callable(build):
        raise InputError(f"net {name!r} must be a function, got {type(build).__name__}.")
    return build


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
        raise InputError(f"{what} failed: {first_line(error, named=True)}.") from error


def _shown(value: object) -> str:
    if isinstance(value, Tensor):
        return str(tuple(value.shape))
    if isinstance(value, tuple | list):
        return f"{type(value).__name__} of {', '.join(type(part).__name__ for part in value) or 'nothing'}"
    return type(value).__name__
