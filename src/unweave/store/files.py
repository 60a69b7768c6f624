"""Write files atomically, and read JSON files that may be damaged or of another version, with short error reasons.

A file is written aside, synced to disk and renamed, so that readers never see part of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from unweave.errors import OtherVersion, Unavailable

FORMAT = 1  # of the files of a run; raised when a version writes what earlier ones cannot read
WRITER = re.compile(r"unweave (\d[^\s,]*)")


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces ``path`` at the end; if anything fails, ``path`` is unchanged."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield aside
        with aside.open("rb+") as stream:
            os.fsync(stream.fileno())
        aside.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror or error}.") from error
    finally:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic_write(path) as aside:
        aside.write_text(text, encoding="utf-8")


def write_output(path: str | Path, content: str | bytes) -> Path:
    """Write a file that the user has asked for, whole or not at all, and return its path; its folder is made."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror or error}.") from error
    with atomic_write(path) as aside:
        aside.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def remove_leftovers(folder: Path) -> None:
    """Delete temporary files of processes that were killed while writing."""
    for pattern in (".*.partial", ".tmp*"):
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":  # other systems cannot open folders
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; raise a ValueError that says why it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError("it is not text in UTF-8") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON: {error}") from error
    except (ValueError, RecursionError) as error:  # thousands of digits or of nested lists
        raise ValueError("it has numbers that are too long, or too many nested lists") from error


def reason_of(error: Exception) -> str:
    """Return what an error says, without the path of the file."""
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


def is_whole(value: object) -> bool:
    """Return whether a value is an integer and not a bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_finite(value: object) -> bool:
    """Return whether a value is a number that fits into a finite float."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


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
