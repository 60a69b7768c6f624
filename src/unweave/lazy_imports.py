"""Names of a package that are imported when they are first used, so that importing the package is fast."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy(package: str, where: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package (PEP 562): ``where`` maps each name to ``module:name``."""

    def get(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, attribute = where[name].partition(":")
        found: Any = importlib.import_module(module)
        return getattr(found, attribute) if attribute else found

    return get


def later(where: str, *arguments: Any, **settings: Any) -> Any:
    """Call a function of a later stage, ``module:name``, which is imported now; for methods that only pass on."""
    module, _, name = where.partition(":")
    return getattr(importlib.import_module(module), name)(*arguments, **settings)
