"""Code that a configuration names. A run folder may come from somebody else, so its code may need permission to run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from unweave.errors import InputError
from unweave.settings import without_own_code


def check_own_code(fields: Mapping[str, Any], title: str = "this run") -> None:
    """Raise an InputError if a configuration names code outside of Unweave, as ``package.module:name``."""
    if names := own_code_of(fields):
        raise InputError(
            f"{title} needs code outside of Unweave ({', '.join(names)}), which could do anything on this machine. "
            "If you trust the author of the run, add --trust (trust=True in Python), which imports that code."
        )


def own_code_of(fields: Mapping[str, Any]) -> list[str]:
    """Return the code outside of Unweave that a configuration, which may be damaged, names."""
    return sorted({name for name in _part_names(fields) if ":" in name})


def guarded(trust: bool) -> AbstractContextManager[None]:
    """Import no code that a configuration names inside the block, unless it is trusted."""
    return nullcontext() if trust else without_own_code()


def _part_names(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the net, the latent, the terms and the data of a configuration that may be damaged."""
    terms = fields.get("terms")
    entries = [entry for entry in terms if isinstance(entry, Mapping)] if isinstance(terms, list) else []
    for part in (
        fields.get("net"),
        fields.get("latent"),
        fields.get("data"),
        *(entry.get("term") for entry in entries),
    ):
        name = part.get("name") if isinstance(part, Mapping) else part
        if isinstance(name, str):
            yield name
