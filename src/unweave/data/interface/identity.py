"""The identity of a data set: what distinguishes it from others, and how to open it again."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Mapping
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from unweave.errors import InputError
from unweave.names import label_of
from unweave.settings import Settings


class DataIdentity(Settings):
    """The identity of the data of a run. Two identities are equal if the data is the same, wherever it is stored.

    ``source`` says where the user's own data was found, ``{"path": …, "options": {…}}``, so that it can be opened
    again; it is None for data that needs no path and for arrays in memory. It is not part of what identifies the data.
    """

    title: ClassVar[str] = "the data"
    name: str  # of a data set, "module:name" for a set defined elsewhere, or "own"
    options: dict[str, Any] = Field(default_factory=dict)  # every option with its value, defaults included
    shape: tuple[int, int, int]  # (C, H, W)
    num_images: int
    fingerprint: str  # a declared version, published checksums, or a hash of all pixels and labels
    source: dict[str, Any] | None = None

    def canonical(self) -> dict[str, Any]:
        """Return what identifies the data, as JSON types: everything but ``source``."""
        return self.model_dump(mode="json", exclude={"source"})

    @property
    def label(self) -> str:
        """The name to show: for the user's own data, the name of its file or folder."""
        return label_of(self.name, self.source)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DataIdentity) and self.canonical() == other.canonical()

    def __hash__(self) -> int:
        return hash((self.name, self.shape, self.num_images, self.fingerprint))


def digest(*parts: str | bytes) -> str:
    """Hash the parts, in their order, to 16 hexadecimal digits."""
    total = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        total.update(b"%d:" % len(content))
        total.update(content)
    return total.hexdigest()[:16]


@cache
def code_of(module: str) -> str:
    """Hash the source file of an imported module; "" where it has none, as in an interactive session."""
    try:
        path = inspect.getsourcefile(sys.modules[module])
        return digest(Path(path).read_bytes()) if path else ""
    except (KeyError, TypeError, OSError):
        return ""


def plain(option: str, value: Any) -> Any:
    """Return the value of an option as JSON types, or raise an InputError if it has no such form."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(option, entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(option, entry) for entry in value]
    raise InputError(
        f"option {option} of a data set must be a number, a string, or a list or dictionary of these, "
        f"got {type(value).__name__}."
    )
