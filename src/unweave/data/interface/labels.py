"""Display names of data sets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

OWN = "own"  # the name of all data that comes from the user's own files and arrays
FILES = {".npy", ".npz", ".h5", ".hdf5"}  # endings of files of images, left out of a label


def label_of(name: str, source: Mapping[str, Any] | None) -> str:
    """Return the name to show: for the user's own data, the name of its file or folder."""
    if name != OWN:
        return name
    path = Path(source["path"]) if source else Path("own images")
    return path.stem if path.suffix.lower() in FILES else path.name
