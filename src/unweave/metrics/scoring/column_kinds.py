"""The kind of each column of factors: a column of floats is continuous, unless it is declared otherwise."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.errors import InputError, unknown

KINDS = ("categorical", "ordered", "cyclic", "continuous")
Kinds = Sequence[str] | Mapping[int, str] | None  # of the columns; None for what their types say


def kinds_of(
    metric: str, factors: NDArray[Any], kinds: Kinds, *, integers: NDArray[np.bool_]
) -> tuple[list[str], list[int]]:
    """Return the kind of each column, and the columns of whole numbers that are continuous because they are floats.

    Args:
        metric: The metric, for messages.
        factors: The factors (N, K), NaN or None where a value is missing.
        kinds: The kinds that are declared.
        integers: Whether each column (K,) consists of integers by type, see :func:`integer_columns`.

    Returns:
        The kinds, and the columns that are worth a warning.
    """
    columns = factors.shape[1]
    words = factors.dtype.kind in "USO"
    declared = dict(enumerate(kinds)) if isinstance(kinds, Sequence) else dict(kinds or {})
    if isinstance(kinds, str) or (isinstance(kinds, Sequence) and len(kinds) != columns):
        raise InputError(f"{metric}: kinds must have one kind for each of the {columns} factors, got {kinds!r}.")
    for column, kind in declared.items():
        if column not in range(columns):
            raise InputError(f"{metric}: kinds has factor {column!r}, but factors are 0 to {columns - 1}.")
        if kind not in KINDS:
            raise unknown("kind of a factor", str(kind), KINDS)
        if kind == "continuous" and words:
            raise InputError(f"{metric}: factor {column} has words, so it cannot be continuous.")
    found, whole = [], []
    for k in range(columns):
        if k in declared:
            found.append(declared[k])
        elif words or integers[k]:
            found.append("categorical" if words else "ordered")
        else:
            gaps = np.isnan(factors[:, k])
            kind, doubtful = kind_of_floats(factors[~gaps, k], gaps=bool(gaps.any()))
            found.append(kind)
            whole += [k] if doubtful else []
    return found, whole


def kind_of_floats(values: NDArray[Any], *, gaps: bool) -> tuple[str, bool]:
    """Return the kind of a column of floats, and whether it may be one of labels: whole numbers that vary.

    Whole numbers with gaps are values on a grid, because NumPy and pandas can store integers with gaps only as floats.
    """
    whole = not (values % 1 != 0).any()
    if whole and gaps:
        return "ordered", False
    return "continuous", bool(whole and len(values) and values.min() < values.max())


def integer_columns(given: Any, factors: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether each column (K,) has integers only, also if other columns of a list or a frame are floats.

    Args:
        given: The factors as they were given.
        factors: The same as an array (N, K).
    """
    columns = factors.shape[1]
    if factors.dtype.kind != "f":
        return np.ones(columns, np.bool_)
    if hasattr(given, "columns"):  # a data frame, which becomes an array of one type
        return np.array([getattr(dtype, "kind", "O") in ("i", "u", "b") for dtype in given.dtypes])
    entries = np.asarray(given, dtype=object) if isinstance(given, list | tuple) else given
    if not isinstance(entries, np.ndarray) or entries.dtype.kind != "O" or entries.size != factors.size:
        return np.zeros(columns, np.bool_)
    present = ~np.isnan(factors)
    types = np.frompyfunc(lambda entry: isinstance(entry, int | np.integer | np.bool_), 1, 1)
    integers = types(np.reshape(entries, factors.shape)).astype(np.bool_)
    return np.asarray((integers | ~present).all(0) & present.any(0), np.bool_)


def warn_of_whole_floats(names: Sequence[str] | Sequence[int]) -> None:
    """Warn that columns of floats, named or numbered, are scored as continuous although their values are whole."""
    if not names:
        return
    shown = [str(name) if isinstance(name, str) else f"factor {name}" for name in names[:3]]
    more = ", …" if len(names) > 3 else ""
    kinds = ", ".join(f'"{name}": "ordered"' if isinstance(name, str) else f'{name}: "ordered"' for name in names[:3])
    options = " ".join(f"--kind {name}=ordered" for name in names[:3] if isinstance(name, str))
    warnings.warn(
        f"whole numbers that are stored as floats are scored as continuous: {', '.join(shown)}{more}. If they are "
        f"labels or values on a grid, pass integers or kinds={{{kinds}{more}}}{f' ({options})' if options else ''}.",
        stacklevel=2,
    )
