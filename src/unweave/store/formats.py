"""The version of Unweave that wrote a file of a run, and the error if this version cannot read it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from unweave.errors import OtherVersion
from unweave.store.files import is_whole, read_json

FORMAT = 1  # of the files of a run; raised when a version writes what earlier ones cannot read
WRITER = re.compile(r"unweave (\d[^\s,]*)")


@lru_cache(maxsize=1)
def versions() -> str:
    """Return the versions of Unweave and torch."""
    return f"unweave {version('unweave')}, torch {version('torch')}"


@lru_cache(maxsize=1)
def this_version() -> str:
    """Return the version of this Unweave."""
    return version("unweave")


def another_writer(recorded: object) -> str | None:
    """Return the version of Unweave that wrote a record, None if it was this one or is not known."""
    written = recorded.get("version") if isinstance(recorded, Mapping) else None
    found = WRITER.match(written) if isinstance(written, str) else None
    return found[1] if found and found[1] != this_version() else None


def writer_of(state: Path) -> str | None:
    """Return the version of Unweave that wrote a run, from its state; None if it was this one or is not known."""
    try:
        return another_writer(read_json(state))
    except (OSError, ValueError):
        return None


def check_format(path: Path, recorded: Mapping[str, Any]) -> None:
    """Raise an OtherVersion if a file has a later format than this version of Unweave reads."""
    found = recorded.get("format", 1)
    if is_whole(found) and found > FORMAT:
        reason = f"its format is {found}, and this version reads formats up to {FORMAT}"
        raise refused(path, another_writer(recorded), reason)


def refused(path: Path, writer: str | None, reason: str) -> OtherVersion:
    """Return the error for a file of another version that this one cannot read."""
    author = f"unweave {writer}" if writer else "a later version of unweave"
    return OtherVersion(
        f"{path} was written by {author}, and unweave {this_version()} cannot read it ({reason}): "
        "install that version, or use a different store."
    )
