"""Writing whole files: aside, to disk, then renamed, so that a reader finds the old one or the new one and no part."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unweave.errors import Unavailable


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A path to write to, which takes the place of ``path`` at the end; where anything fails, nothing has changed."""
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
    """Write a text file whole."""
    with written_whole(path) as aside:
        aside.write_text(text, encoding="utf-8")


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":  # elsewhere folders cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
