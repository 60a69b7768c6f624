"""Atomic writes: to a temporary file, synced to disk, then renamed, so that readers never see part of a file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
