"""Paths in a report, seen from the folder where it is made: a mailed report does not show its author's disk."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from unweave.store.folder import NAME, store_folder


def from_here(path: str | Path) -> str:
    """Return an absolute path as seen from the current folder; a relative one stays as it is.

    A path on another drive, which Windows has, stays absolute.
    """
    if not Path(path).is_absolute():
        return str(path)
    try:
        return os.path.relpath(path)
    except ValueError:
        return str(path)


def as_path(path: str | Path) -> str:
    """Return a path from the current folder with a separator, so that commands do not take it for a name."""
    text = from_here(path)
    return text if os.sep in text or "/" in text else f"./{text}"


def source_from_here(source: Mapping[str, Any]) -> dict[str, Any]:
    """Return the source of a data set with every absolute path in it, also in its options, as seen from here."""
    return {
        key: source_from_here(value)
        if isinstance(value, Mapping)
        else as_path(value)
        if isinstance(value, str) and Path(value).is_absolute()
        else value
        for key, value in source.items()
    }


def hide_places(text: str, places: Iterable[str | Path]) -> str:
    """Return a text in which these absolute paths are written as seen from here."""
    for place in sorted(map(str, places), key=len, reverse=True):
        if Path(place).is_absolute():
            text = text.replace(place, as_path(place))
    return text


def run_commands(command: str, folders: Iterable[Path]) -> str:
    """Return a command on runs, one line per store: by name, with ``--store`` unless it is the store used anyway."""
    usual = store_folder().absolute()
    stores: dict[Path, list[str]] = {}
    for folder in folders:
        named = NAME.fullmatch(folder.name) is not None
        store = folder.absolute().parent if named else usual
        stores.setdefault(store, []).append(folder.name if named else as_path(folder))
    return "\n".join(
        shlex.join([*command.split(), *names, *([] if store == usual else ["--store", from_here(store)])])
        for store, names in stores.items()
    )
