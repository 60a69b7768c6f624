"""Settings: typed, frozen and checked at once; what is wrong is one sentence that names the nearest right thing."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, ValidationError

from unweave.errors import InputError, unknown

T = TypeVar("T")


class Settings(BaseModel):
    """The base of everything that is set by name: latents, terms, schedules, a whole configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    title: ClassVar[str] = "the configuration"  # what a message calls it

    def __init__(self, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise _sentence(type(self), error) from None


def _sentence(settings: type[Settings], error: ValidationError) -> InputError:
    problem = error.errors()[0]
    if isinstance(raised := problem.get("ctx", {}).get("error"), InputError):
        return raised
    path = [str(step) for step in problem["loc"]]
    if problem["type"] == "extra_forbidden":
        inner = _at(settings, path[:-1])
        return unknown(f"setting of {inner.title}", path[-1], inner.model_fields)
    reason = problem["msg"].removeprefix("Value error, ").replace("Input should", "must", 1)
    return InputError(f"{settings.title}: {'.'.join(path)} {reason}, got {problem['input']!r}.")


def _at(settings: type[Settings], path: list[str]) -> type[Settings]:
    """The settings that lie within others at a path."""
    for step in path:
        annotation = settings.model_fields[step].annotation if step in settings.model_fields else None
        for kind in (annotation, *get_args(annotation)):
            if isinstance(kind, type) and issubclass(kind, Settings):
                settings = kind
                break
    return settings


def named(what: str, name: str, known: Mapping[str, T]) -> T:
    """What ``known`` calls by this name; or one's own, written as ``package.module:name``."""
    if ":" in name:
        found: T = imported(what, name)
        return found
    if name not in known:
        raise unknown(what, name, known)
    return known[name]


def imported(what: str, name: str) -> Any:
    """The thing at ``package.module:name``, or an error that says which half is not there."""
    module, _, attribute = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
    except Exception as error:  # whatever the code of somebody else's module may raise
        raise InputError(f"{what} {name!r}: the module {module!r} cannot be imported ({error}).") from error
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise InputError(f"{what} {name!r}: the module {module!r} has no {attribute!r} that can be called.")
    return found


def name_in(known: Mapping[str, Any], thing: Any) -> str:
    """What ``known`` calls a thing; or for one's own, ``package.module:name``, where a later process finds it again."""
    for ours, candidate in known.items():
        if candidate is thing:
            return ours
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    found: Any = sys.modules.get(module or "")
    for part in (name or "").split("."):
        found = getattr(found, part, None)
    if found is not thing or module == "__main__":
        raise InputError(f"{name or thing!r} must be at the top of a module of its own, where it can be found again.")
    return f"{module}:{name}"


def choice(what: str, known: Mapping[str, type[Settings]]) -> tuple[BeforeValidator, PlainSerializer]:
    """The annotations of a field that holds one of several kinds of settings, written as a name and its settings."""

    def read(given: Any) -> Any:
        if isinstance(given, str):
            given = {"name": given}
        if not isinstance(given, Mapping):
            return given
        settings = dict(given)
        name = str(settings.pop("name", ""))
        kind = named(what, name, known)
        if not (isinstance(kind, type) and issubclass(kind, Settings)):
            raise InputError(f"{what} {name!r} is no kind of {what}.")
        return kind(**settings)

    def write(value: Settings) -> dict[str, Any]:
        return {"name": name_in(known, type(value)), **value.model_dump(mode="json")}

    return BeforeValidator(read), PlainSerializer(write)
