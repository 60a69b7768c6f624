"""Convert values to strict JSON; NaN and ±inf become strings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def to_plain(value: Any) -> Any:
    """Return a value as JSON types; arrays become lists, and what is not finite "NaN", "Infinity" or "-Infinity".

    >>> to_plain({"score": float("inf"), "values": (1, 2.5)})
    {'score': 'Infinity', 'values': [1, 2.5]}
    """
    if hasattr(value, "tolist"):  # arrays, tensors and their scalars
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): to_plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
