"""Code that a configuration names. A run folder may come from somebody else, so it is not run without permission."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unweave.errors import InputError


def check_own_code(fields: Mapping[str, Any]) -> None:
    """Raise an InputError if a configuration names code outside of Unweave, as ``package.module:name``."""
    names = sorted({name for name in _part_names(fields) if ":" in name})
    if names:
        raise InputError(
            f"this run needs code outside of Unweave ({', '.join(names)}), which could do anything on this machine. "
            "If you trust the author of the run, start unweave explore with --trust."
        )


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
