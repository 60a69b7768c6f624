"""Settings: typed, frozen and validated; an error is one sentence that names the closest match."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, ValidationError

from unweave.errors import InputError, unknown

T = TypeVar("T")
REFUSED = "is code outside of Unweave, which is not run here"
_ALLOWED: ContextVar[frozenset[str] | None] = ContextVar("own_code_that_is_imported", default=None)  # None for all


class Settings(BaseModel):
    """Base class of everything that is set by name: latents, terms, schedules, a whole configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    title: ClassVar[str] = "the configuration"  # how a message refers to it

    def __init__(self, **given: Any) -> None:
        for name, value in given.items():
            if isinstance(value, bool) and not _takes_bool(type(self), name):
                raise InputError(f"{self.title}: {name} must not be a boolean, got {value}.")
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise _sentence(type(self), error) from None


def written_unless(default: Any) -> Any:
    """Return the annotation of a setting that came after runs had been named: its default is not written.

    So runs that do not use the setting keep their names and configurations.
    """
    return Field(exclude_if=lambda value: bool(value == default))


@cache
def _takes_bool(settings: type[Settings], name: str) -> bool:
    field = settings.model_fields.get(name)
    return field is None or field.annotation in (bool, Any) or bool in get_args(field.annotation)


def _sentence(settings: type[Settings], error: ValidationError) -> InputError:
    problem = error.errors()[0]
    if isinstance(raised := problem.get("ctx", {}).get("error"), InputError):
        return raised
    path = [str(step) for step in problem["loc"]]
    if problem["type"] == "extra_forbidden":
        inner = _at(settings, path[:-1])
        return unknown(f"setting of {inner.title}", path[-1], inner.model_fields)
    if problem["type"] == "missing":
        return InputError(f"{settings.title}: {'.'.join(path)} is missing.")
    reason = problem["msg"].removeprefix("Value error, ").replace("Input should", "must", 1)
    reason = reason.replace("a valid tuple", "a list")
    return InputError(f"{settings.title}: {'.'.join(path)} {reason}, got {problem['input']!r}.")


def _at(settings: type[Settings], path: list[str]) -> type[Settings]:
    """Return the class of the settings nested in others at a path."""
    for step in path:
        annotation = settings.model_fields[step].annotation if step in settings.model_fields else None
        for kind in (annotation, *get_args(annotation)):
            if isinstance(kind, type) and issubclass(kind, Settings):
                settings = kind
                break
    return settings


def named(what: str, name: str, known: Mapping[str, T]) -> T:
    """Return what ``known`` holds under a name, or the user's own object, written as ``package.module:name``."""
    if ":" in name:
        found: T = imported(what, name)
        return found
    key = key_in(known, name)
    if key not in known:
        raise unknown(what, name, known)
    return known[key]


def key_in(known: Iterable[str], name: str) -> str:
    """Return the key that a name means, in which hyphens and underscores are interchangeable; or else the name."""
    if name in known:
        return name
    plain = name.replace("-", "_")
    return next((key for key in known if key.replace("-", "_") == plain), name)


@contextmanager
def only_own_code(names: Iterable[str]) -> Iterator[None]:
    """Refuse to import any ``package.module:name`` but these inside the block, for configurations from files."""
    allowed, outer = frozenset(names), _ALLOWED.get()
    token = _ALLOWED.set(allowed if outer is None else allowed & outer)
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def without_own_code() -> AbstractContextManager[None]:
    """Refuse to import any ``package.module:name`` inside the block, for configurations that are not trusted."""
    return only_own_code(())


def imported(what: str, name: str) -> Any:
    """Import the object at ``package.module:name``; modules of the working directory are found as well."""
    if (allowed := _ALLOWED.get()) is not None and name not in allowed:
        raise InputError(f"{what} {name!r} {REFUSED}.")
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise InputError(f"{what} {name!r}: write your own as package.module:name.")
    try:
        found: Any = _module(module)
    except (Exception, SystemExit) as error:  # the user's module may raise anything
        raise InputError(f"{what} {name!r}: the module {module!r} cannot be imported ({error}).") from error
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise InputError(f"{what} {name!r}: the module {module!r} has no {attribute!r}.")
    return found


def _module(name: str) -> Any:
    if name in sys.modules:
        return sys.modules[name]
    here = str(Path.cwd())
    if here in sys.path or "" in sys.path:
        return importlib.import_module(name)
    sys.path.append(here)  # last, so that a user's file cannot hide an installed module
    try:
        importlib.invalidate_caches()
        return importlib.import_module(name)
    finally:
        sys.path.remove(here)


def source_hash(name: str) -> str:
    """Return 16 digits of the hash of the source of ``package.module:name``.

    The source is the file of the module and those of the user's other modules that it uses, but not installed ones.
    """
    digest = hashlib.sha256()
    for path in sorted(_own_files(_module(name.partition(":")[0]), {})):
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()[:16]


def _own_files(module: Any, seen: dict[str, None]) -> dict[str, None]:
    """Return the source files of a module and, through its names, of the modules of the user's that it uses."""
    path = getattr(module, "__file__", None)
    if not path or path in seen or not Path(path).exists():
        return seen
    seen[path] = None
    for value in list(vars(module).values()):
        name = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
        other = sys.modules.get(name) if isinstance(name, str) else None
        if other is not None and other is not module and not _is_installed(other):
            _own_files(other, seen)
    return seen


def _is_installed(module: Any) -> bool:
    """Return whether a module belongs to Python, to Unweave, or to an installed package."""
    path = getattr(module, "__file__", None) or ""
    places = (sys.prefix, sys.base_prefix, str(Path(__file__).parent))
    return not path or path.startswith(places) or "site-packages" in path


def name_in(known: Mapping[str, Any], thing: Any) -> str:
    """Return the key of a thing in ``known``, or ``package.module:name`` of the user's own, which is importable."""
    for ours, candidate in known.items():
        if candidate is thing:
            return ours
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    found: Any = sys.modules.get(module or "")
    for part in (name or "").split("."):
        found = getattr(found, part, None)
    if found is not thing or module == "__main__":
        raise InputError(
            f"{name or thing!r} must be defined at the top level of an importable module, so that a later process "
            "can find it again."
        )
    return f"{module}:{name}"


def choice(what: str, known: Mapping[str, type[Settings]]) -> tuple[BeforeValidator, PlainSerializer]:
    """Return the annotations of a field that holds one of several kinds of settings, written as a name and settings."""

    def read(given: Any) -> Any:
        if isinstance(given, str):
            given = {"name": given}
        if not isinstance(given, Mapping):
            return given
        settings = dict(given)
        name = str(settings.pop("name", ""))
        kind = named(what, name, known)
        if not (isinstance(kind, type) and issubclass(kind, Settings)):
            raise InputError(f"{what} {name!r} must be a subclass of the base class of all {what}s, got {kind!r}.")
        return kind(**settings)

    def write(value: Settings) -> dict[str, Any]:
        return {"name": name_in(known, type(value)), **value.model_dump(mode="json")}

    return BeforeValidator(read), PlainSerializer(write)
