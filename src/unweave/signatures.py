"""Settings from the signature of a function: one field for each keyword argument, checked by its annotation."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, get_type_hints

from pydantic import ConfigDict, PydanticSchemaGenerationError, PydanticUserError, create_model

from unweave.errors import InputError
from unweave.settings import Settings


@lru_cache(maxsize=1024)
def keyword_settings(function: Callable[..., Any], title: str, skip: int = 0) -> type[Settings]:
    """Return a Settings class for the keyword arguments of a function; the first ``skip`` arguments are skipped."""
    arguments = _keyword_arguments(function, skip)
    for argument, parameter in arguments.items():
        if parameter.default is parameter.empty:
            raise InputError(f"{title}: its setting {argument!r} must have a default value.")
    hints = _annotations(function, title, arguments)
    fields: dict[str, Any] = {argument: (hints.get(argument, Any), p.default) for argument, p in arguments.items()}
    try:
        settings = create_model("KeywordSettings", __base__=_KeywordSettings, **fields)
    except (PydanticUserError, PydanticSchemaGenerationError, NameError, TypeError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{title}: its settings cannot be read from its signature ({reason}).") from error
    settings.title = title
    return settings


class _KeywordSettings(Settings):
    model_config = ConfigDict(validate_default=True)


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
    known = vars(sys.modules[function.__module__])
    try:
        return get_type_hints(SimpleNamespace(__annotations__=written), globalns=known, include_extras=True)
    except NameError as error:
        raise InputError(f"{title}: the annotation of a setting cannot be resolved ({error}).") from error
