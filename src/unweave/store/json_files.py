"""Reading files that may be damaged: what is wrong with them is said in a few words."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any


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
