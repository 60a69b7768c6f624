"""One column of factors, numbers or words. A column is categorical only if it is text or declared so."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import InputError

ABSENT = ("", "na", "n/a", "nan", "null", "none", "<na>")  # words for a missing value, in any case
EXACT = 2**53  # integers beyond this are not exact as floats


def parse_column(name: str, column: NDArray[Any], *, mixed: bool = False) -> NDArray[Any]:
    """Return a column as integers or floats if every entry is a number, else as words.

    Integers that do not fit into 64 bits stay Python integers. A column with both numbers and words is refused; with
    ``mixed``, it is read as words. No value may be missing, see :func:`missing_in`.
    """
    if column.dtype.kind in "OUS":
        column = _numbers(name, _as_words(name, column), mixed)
    if column.dtype.kind not in "iufUbO":
        raise InputError(f"factor {name} must be numbers or words, got {column.dtype}.")
    if column.dtype.kind == "f":
        if not np.isfinite(column).all():
            raise InputError(f"factor {name} has infinite entries.")
        if (np.abs(column) > EXACT).any() and not (column % 1 != 0).any():
            raise InputError(
                f"factor {name} has integers beyond 2^53 stored as floats, which cannot tell them apart: store them as "
                "integers or as strings."
            )
    return column


def as_floats(name: str, column: NDArray[Any]) -> NDArray[np.float64]:
    """Return a column of numbers as float64; refuse integers that this would change."""
    if column.dtype.kind in "iuO" and any(abs(int(value)) > EXACT for value in (column.min(), column.max())):
        raise InputError(
            f"factor {name} has integers beyond 2^53, which are not exact beside a continuous factor: "
            "number its values from 0."
        )
    return column.astype(np.float64)


def is_number(word: str) -> bool:
    """Return whether a word of a text file is a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def _as_words(name: str, column: NDArray[Any]) -> NDArray[np.str_]:
    try:
        if column.dtype.kind == "S":
            return np.char.decode(column, "utf-8")
        return column.astype(str)
    except UnicodeDecodeError as error:
        raise InputError(f"factor {name} has bytes that are not text in UTF-8.") from error


def _numbers(name: str, words: NDArray[np.str_], mixed: bool) -> NDArray[Any]:
    """Return words as numbers if all of them are, unchanged if none is."""
    for numbers in (_integers, _python_integers, _floats):
        try:
            return numbers(words)
        except (ValueError, OverflowError):
            continue
    numeric = [is_number(word) for word in words]
    if any(numeric) and not mixed:
        row = numeric.index(False)
        raise InputError(
            f"factor {name} has numbers and words: row {row + 1} is {str(words[row])!r}. Correct the entry, or make it "
            f'a category with kinds={{"{name}": "categorical"}}.'
        )
    return words


def _integers(words: NDArray[np.str_]) -> NDArray[np.int64]:
    return words.astype(np.int64)


def _floats(words: NDArray[np.str_]) -> NDArray[np.float64]:
    return words.astype(np.float64)


def _python_integers(words: NDArray[np.str_]) -> NDArray[np.object_]:
    return np.array([int(word) for word in words], dtype=object)


def missing_in(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which entries of a column (N,) are missing: empty, NaN, None, or a word such as NA."""
    if column.dtype.kind == "f":
        return np.asarray(np.isnan(column))
    if column.dtype.kind in "OU":
        return np.array([_is_missing(entry) for entry in column], dtype=bool)
    return np.asarray(column == b"") if column.dtype.kind == "S" else np.zeros(len(column), dtype=bool)


def _is_missing(entry: object) -> bool:
    if isinstance(entry, str):
        return entry.strip().lower() in ABSENT
    is_nan = isinstance(entry, float) and math.isnan(entry)
    return entry is None or is_nan or type(entry).__name__ in ("NAType", "NaTType")
