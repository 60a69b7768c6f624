"""Tables of factors: columns of numbers or words, as values on a grid."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.data.files.arrays import read_npy
from unweave.data.files.factor_columns import as_floats, is_number, parse_column
from unweave.errors import InputError, unknown
from unweave.factors import Categorical, Cyclic, Factor, FactorSpace, Ordered

KINDS: dict[str, type[Factor]] = {"ordered": Ordered, "cyclic": Cyclic, "categorical": Categorical}
FILE_COLUMNS = ("file", "filename", "image", "path")
MOST_VALUES = 1000  # a column of fractions is continuous if it has more distinct values than this or than half its rows


@dataclass(frozen=True)
class Table:
    """Factors of N images: ``codes`` (N, K) int64 on ``space``, or float64 as given if a factor is continuous."""

    codes: Tensor
    names: tuple[str, ...]
    space: FactorSpace | None
    continuous: Mapping[str, int]  # the number of distinct values of each continuous factor

    def __len__(self) -> int:
        return len(self.codes)

    def __str__(self) -> str:
        if self.space is not None:
            return str(self.space)
        shown = [f"{name} continuous" if name in self.continuous else name for name in self.names[:16]]
        return " · ".join(shown) + (f" · and {len(self.names) - 16:,} more" if len(self.names) > 16 else "")

    @property
    def why_no_grid(self) -> str:
        """Why there is no space of factors."""
        name, values = next(iter(self.continuous.items()))
        return f"{name} is continuous, with {values:,} distinct values."

    @classmethod
    def of(cls, columns: Mapping[str, NDArray[Any]], kinds: Mapping[str, str] | None = None) -> Table:
        """Make a table. By default, words become categories and numbers ordered values, smallest first.

        ``kinds`` overrides this. A column of fractions with many distinct values is continuous unless ``kinds`` has it.
        """
        kinds = _checked_kinds(kinds, columns)
        if not columns:
            raise InputError("the table of factors has no columns.")
        parsed = {
            name: parse_column(name, column, mixed=kinds.get(name) == "categorical") for name, column in columns.items()
        }
        factors: dict[str, Factor] = {}
        codes: list[Tensor] = []
        continuous = {}
        for name, column in parsed.items():
            values, inverse = np.unique(column, return_inverse=True)
            fractions = column.dtype.kind == "f" and bool((values % 1 != 0).any())
            if fractions and name not in kinds and len(values) > min(MOST_VALUES, len(column) // 2):
                continuous[name] = len(values)
            kind = kinds.get(name) or ("categorical" if column.dtype.kind == "U" else "ordered")
            factors[name] = KINDS[kind](len(values))
            codes.append(torch.from_numpy(inverse.reshape(-1).astype(np.int64)))
        if not continuous:
            space = FactorSpace(tuple(factors), tuple(factors.values()))
            return cls(torch.stack(codes, dim=1), tuple(factors), space, continuous)
        words = [name for name, column in parsed.items() if column.dtype.kind == "U"]
        if words:
            raise InputError(
                f"{next(iter(continuous))} is continuous and {words[0]} is made of words: replace the words by numbers."
            )
        raw = np.stack([as_floats(name, column) for name, column in parsed.items()], axis=1)
        return cls(torch.from_numpy(raw), tuple(parsed), None, continuous)


def _checked_kinds(kinds: Mapping[str, str] | None, columns: Mapping[str, Any]) -> Mapping[str, str]:
    if kinds is not None and not isinstance(kinds, Mapping):
        raise InputError(f"kinds must be a dictionary of factors, as in {{'angle': 'cyclic'}}, got {kinds!r}.")
    for name, kind in (kinds or {}).items():
        if name not in columns:
            raise unknown("factor", name, columns)
        if kind not in KINDS:
            raise unknown("kind", str(kind), KINDS)
    return kinds or {}


def read_csv(path: Path, pictures: Sequence[Path] | None, kinds: Mapping[str, str] | None) -> Table:
    """Read a CSV file with a header.

    A column called file, filename, image or path names the picture of each row; without one, rows are in the order of
    the images.
    """
    header, rows = _read_rows(path)
    header = [name.strip() for name in header]
    if "" in header or len(set(header)) != len(header):
        raise InputError(f"{path}: each column needs a different name in the first line, got {header}.")
    if not rows:
        raise InputError(f"{path} has no rows of factors below its header.")
    if _is_row(header, rows):
        raise InputError(
            f"{path} has no header: its first line is {','.join(header)[:60]}. Add a line of names above it."
        )
    columns = {name: np.array([row[k].strip() for row in rows]) for k, name in enumerate(header)}
    return Table.of(in_order(str(path), columns, pictures), kinds)


def from_frame(frame: Any, pictures: Sequence[Path] | None, kinds: Mapping[str, str] | None) -> Table:
    """Make a table from a pandas DataFrame, or anything with its ``columns`` and ``to_numpy``; see :func:`read_csv`."""
    names = [str(name) for name in frame.columns]
    if len(set(names)) != len(names):
        raise InputError(f"the frame of factors has two columns of the same name: {names}.")
    columns = {name: np.asarray(frame[key].to_numpy()) for name, key in zip(names, frame.columns, strict=True)}
    return Table.of(in_order("the frame of factors", columns, pictures), kinds)


def in_order(what: str, columns: dict[str, NDArray[Any]], pictures: Sequence[Path] | None) -> dict[str, NDArray[Any]]:
    """Take out the column of file names, if any, and sort the rows by it in the order of the pictures."""
    named = next((name for name in columns if name.lower() in FILE_COLUMNS), None)
    if named is None:
        return columns
    files = [Path(str(file)).name for file in columns[named]]
    others = {name: column for name, column in columns.items() if name != named}
    if pictures is None:
        return others
    order = _order(what, files, [picture.name for picture in pictures])
    return {name: column[order] for name, column in others.items()}


def _read_rows(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the first row and the other rows of a file separated by commas, semicolons or tabs, all of one length."""
    if not path.is_file():
        raise InputError(f"there is no file {path}.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a text file in UTF-8.") from error
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
    header: list[str] = []
    rows = []
    try:
        for row in filter(None, reader):
            if not header:
                header = row
            elif len(row) != len(header):
                raise InputError(
                    f"{path}: line {reader.line_num} has {len(row)} columns but the first has {len(header)}."
                )
            else:
                rows.append(row)
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num} cannot be read: {error}.") from error
    if not header:
        raise InputError(f"{path} has no rows.")
    return header, rows


def _is_row(header: list[str], rows: list[list[str]]) -> bool:
    """Return whether the first row is data: numbers above numbers or, if all columns are words, repeated words."""
    columns = list(zip(*rows, strict=True))
    numeric = [k for k, column in enumerate(columns) if all(map(is_number, column))]
    if numeric or not rows:
        return all(is_number(header[k]) for k in (numeric if rows else range(len(header))))
    return all(name in map(str.strip, column) for name, column in zip(header, columns, strict=True))


def _order(path: str, files: list[str], pictures: list[str]) -> list[int]:
    at = {file: row for row, file in enumerate(files)}
    if len(at) != len(files):
        raise InputError(f"{path} names a picture twice.")
    for have, need, what in (
        (at, pictures, "has no row for"),
        (set(pictures), files, "has a row for a missing picture,"),
    ):
        absent = [name for name in need if name not in have]
        if absent:
            raise InputError(f"{path} {what} {absent[0]}{f' and {len(absent) - 1} more' if len(absent) > 1 else ''}.")
    return [at[picture] for picture in pictures]


def read_matrix(path: Path) -> NDArray[Any]:
    """Read a matrix from an .npy file, or from a .csv file with or without a header.

    If all columns are words, the first row is data if each of its words occurs again below it, else a header.
    """
    if not path.is_file():
        raise InputError(f"there is no file {path}.")
    if path.suffix.lower() == ".npy":
        return np.array(read_npy(path))
    if path.suffix.lower() != ".csv":
        raise InputError(f"{path} must be an .npy or a .csv file.")
    header, rows = _read_rows(path)
    for number, row in enumerate([header, *rows], start=1):
        if not all(cell.strip() for cell in row):
            raise InputError(f"{path}: row {number} has an empty cell.")
    header = [name.strip() for name in header]
    is_row = _is_row(header, rows)
    names = [f"column {k + 1}" for k in range(len(header))] if is_row else header
    body = [header, *rows] if is_row else rows
    if not body:
        raise InputError(f"{path} has a header but no rows.")
    cells = np.array(body, dtype=str)
    columns = [parse_column(name, np.char.strip(cells[:, k])) for k, name in enumerate(names)]
    kinds = {column.dtype.kind for column in columns}
    if kinds == {"i"}:
        return np.stack(columns, axis=1)
    if kinds <= {"i", "f"}:
        return np.stack([as_floats(name, column) for name, column in zip(names, columns, strict=True)], axis=1)
    return np.stack([column.astype(object) for column in columns], axis=1)
