"""Choose a net by name or by function, with settings that are read from the function's signature."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

from pydantic import Field, model_serializer, model_validator
from pydantic_core import PydanticSerializationError

from unweave.errors import InputError
from unweave.nets.burgess import burgess
from unweave.nets.conv16 import conv16
from unweave.nets.conv64 import conv64
from unweave.nets.linear import linear
from unweave.nets.mlp import mlp
from unweave.nets.pair import Build
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
