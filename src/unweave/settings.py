"""Settings: typed, frozen and validated; an error is one sentence that names the closest match."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_type_hints

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PydanticSchemaGenerationError,
    PydanticUserError,
    ValidationError,
    create_model,
)

from unweave.errors import InputError, unknown
from unweave.own_code import IN_A_FILE, imported

T = TypeVar("T")
Count = Annotated[int, Field(ge=1)]
Several = Annotated[int, Field(ge=2)]
Bins = Annotated[int, Field(ge=2, le=1000)]
Seed = Annotated[int, Field(ge=0, le=2**32 - 100)]  # which every kind of generator accepts
Fraction = Annotated[float, Field(gt=0, le=1)]
Share = Annotated[float, Field(ge=0, le=1)]
NonNegative = Annotated[float, Field(ge=0)]


class Settings(BaseModel):
    """Base class of everything that is set by name: latents, terms, schedules, a whole configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    title: ClassVar[str] = "the configuration"  # how a message refers to it

    def __init__(self, **given: Any) -> None:
        for name, value in given.items():
            if isinstance(value, bool) and not _takes_bool(type(self), name):
                reason = f"{self.title}: {name} must not be a boolean, got {value}."
                raise InputError(reason, setting=name, value=value)
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
    """Return the first problem as a sentence; its ``setting`` is the path of the field, as in ``terms.1.weight``."""
    first, *others = error.errors()
    problem = max(  # of the alternatives of a union, the one that fits furthest
        (first, *(other for other in others if other["loc"][:1] == first["loc"][:1])), key=lambda each: len(each["loc"])
    )
    path = [str(step) for step in problem["loc"] if isinstance(step, int) or _is_field(step)]
    if isinstance(raised := problem.get("ctx", {}).get("error"), InputError):
        return raised.reworded(str(raised), setting=".".join([*path, raised.setting]).strip("."))
    where = ".".join(path)
    if problem["type"] == "extra_forbidden":
        inner = _at(settings, path[:-1])
        return unknown(f"setting of {inner.title}", path[-1], inner.model_fields, setting=where)
    if problem["type"] == "missing":
        return InputError(f"{settings.title}: {where} is missing.", setting=where)
    reason = problem["msg"].removeprefix("Value error, ").replace("Input should", "must", 1)
    reason = reason.replace("a valid tuple", "a list")
    value = problem["input"]
    return InputError(f"{settings.title}: {where} {reason}, got {value!r}.", setting=where, value=value)


def _is_field(step: str) -> bool:
    """Return whether a step of an error's path is a field, and not an alternative of a union, such as "int"."""
    return step.isidentifier() and step not in ("int", "float", "bool", "str", "tuple", "list")


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


def name_in(known: Mapping[str, Any], thing: Any) -> str:
    """Return the key of a thing in ``known``, or ``package.module:name`` of the user's own, which is importable.

    What is defined at the top level of a notebook or script is ``__main__:name``, which this process alone can find.
    """
    for ours, candidate in known.items():
        if candidate is thing:
            return ours
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    found: Any = sys.modules.get(module or "")
    for part in (name or "").split("."):
        found = getattr(found, part, None)
    if found is not thing:
        raise InputError(
            f"{name or thing!r} must be defined at the top level of a module, not inside a function, so that it can be "
            f"found again. {IN_A_FILE}"
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

    def write(value: Settings | None) -> dict[str, Any] | None:
        return None if value is None else {"name": name_in(known, type(value)), **value.model_dump(mode="json")}

    return BeforeValidator(read), PlainSerializer(write)


@lru_cache(maxsize=1024)
def keyword_settings(
    function: Callable[..., Any], title: str, skip: int = 0, *, strict: bool = False, required: bool = False
) -> type[Settings]:
    """Return a Settings class for the keyword arguments of a function, checked by their annotations.

    Args:
        function: A recipe, a net, a metric, a figure or a data set.
        title: How a message refers to it.
        skip: The number of its first arguments that are not settings.
        strict: Whether values must have the annotated types, so that "5" is no number, and may be arrays.
        required: Whether settings may have no default value, so that they must be given.

    Returns:
        A class with one field for each setting.
    """
    arguments = _keyword_arguments(function, skip)
    for argument, parameter in arguments.items():
        if parameter.default is parameter.empty and not required:
            raise InputError(f"{title}: its setting {argument!r} must have a default value.")
    hints = _annotations(function, title, arguments)
    fields: dict[str, Any] = {
        argument: (hints.get(argument, Any), ... if p.default is p.empty else p.default)
        for argument, p in arguments.items()
    }
    base = _StrictSettings if strict else _KeywordSettings
    try:
        settings = create_model("KeywordSettings", __base__=base, **fields)
    except (PydanticUserError, PydanticSchemaGenerationError, NameError, TypeError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{title}: its settings cannot be read from its signature ({reason}).") from error
    settings.title = title
    return settings


class _KeywordSettings(Settings):
    model_config = ConfigDict(validate_default=True, arbitrary_types_allowed=True)


class _StrictSettings(Settings):
    model_config = ConfigDict(strict=True, arbitrary_types_allowed=True)


def _keyword_arguments(function: Callable[..., Any], skip: int) -> dict[str, inspect.Parameter]:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some built-in callables have no signature
        return {}
    by_name = [(name, p) for name, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return {name: p for place, (name, p) in enumerate(by_name) if place >= skip or p.kind is p.KEYWORD_ONLY}


def _annotations(
    function: Callable[..., Any], title: str, arguments: Mapping[str, inspect.Parameter]
) -> dict[str, Any]:
    """Evaluate the annotations of the settings only; others may use names that are imported for type checking only."""
    written = {argument: p.annotation for argument, p in arguments.items() if p.annotation is not p.empty}
    if isinstance(function, type):  # which may inherit its arguments from a class of another module
        function = next(vars(base)["__init__"] for base in function.__mro__ if "__init__" in vars(base))
    module = sys.modules.get(getattr(function, "__module__", ""))  # none of a notebook, an example, or object itself
    known = getattr(function, "__globals__", {}) if module is None else vars(module)
    try:
        return get_type_hints(SimpleNamespace(__annotations__=written), globalns=known, include_extras=True)
    except NameError as error:
        raise InputError(f"{title}: the annotation of a setting cannot be resolved ({error}).") from error
