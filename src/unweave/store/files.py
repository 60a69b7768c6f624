"""Write files atomically, and read JSON files that may be damaged, with short error reasons.

A file is written aside, synced to disk and renamed, so that readers never see part of it.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unweave.errors import Unavailable


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
