"""Tables of factors: columns of numbers or words, as values on a grid."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.errors import InputError, unknown
from unweave.factors import Categorical, Cyclic, Factor, FactorSpace, Ordered

KINDS: dict[str, type[Factor]] = {"ordered": Ordered, "cyclic": Cyclic, "categorical": Categorical}
FILE_COLUMNS = ("file", "filename", "image", "path")
MOST_VALUES = 1000  # a column of fractions with more distinct values than this, or one in two rows, is continuous


@dataclass(frozen=True)
class Table:
    """Factors of N images: ``codes`` (N, K) int64 on ``space``, or float64 as given where a factor is continuous."""

    codes: Tensor
    space: FactorSpace | None
    why_no_grid: str = ""

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def of(cls, columns: Mapping[str, NDArray[Any]], kinds: Mapping[str, str] | None = None) -> Table:
        """Words become categories, and numbers ordered values, smallest first, unless ``kinds`` says otherwise."""
        if kinds is not None and not isinstance(kinds, Mapping):
            raise InputError(f"kinds takes a kind for each factor by name, as in {{'angle': 'cyclic'}}, got {kinds!r}.")
        for name, kind in (kinds or {}).items():
            if name not in columns:
                raise unknown("factor", name, columns)
            if kind not in KINDS:
                raise unknown("kind", str(kind), KINDS)
        if not columns:
            raise InputError("the table of factors has no columns.")
        columns = {name: _numbers_or_words(name, column) for name, column in columns.items()}
        factors, codes = {}, []
        for name, column in columns.items():
            values, inverse = np.unique(column, return_inverse=True)
            fractions = column.dtype.kind == "f" and bool((values % 1 != 0).any())
            if fractions and len(values) > min(MOST_VALUES, len(column) // 2):
                if any(c.dtype.kind in "US" for c in columns.values()):
                    raise InputError(
                        f"{name} is continuous and another factor is made of words: code the words as numbers."
                    )
                raw = np.stack([np.asarray(c, np.float64) for c in columns.values()], axis=1)
                why = f"{name} is continuous, with {len(values):,} distinct values."
                return cls(torch.from_numpy(raw), None, why)
            kind = (kinds or {}).get(name) or ("categorical" if column.dtype.kind in "US" else "ordered")
            factors[name] = KINDS[kind](len(values))
            codes.append(torch.from_numpy(inverse.reshape(-1).astype(np.int64)))
        return cls(torch.stack(codes, dim=1), FactorSpace(tuple(factors), tuple(factors.values())))


def read_csv(path: Path, pictures: list[Path] | None, kinds: Mapping[str, str] | None) -> Table:
    """A CSV file with a header; a column called file, filename, image or path puts the rows in the pictures' order."""
    header, rows = _read_rows(path)
    header = [name.strip() for name in header]
    if "" in header or len(set(header)) != len(header):
        raise InputError(f"{path}: each column needs a name of its own, got {header}.")
    if not rows:
        raise InputError(f"{path} has no rows of factors under a header.")
    columns = {name: np.array([row[k].strip() for row in rows]) for k, name in enumerate(header)}
    files = next((columns.pop(name) for name in header if name.lower() in FILE_COLUMNS), None)
    if files is not None and pictures is not None:
        order = _order(path, [Path(file).name for file in files], [picture.name for picture in pictures])
        columns = {name: column[order] for name, column in columns.items()}
    return Table.of(columns, kinds)


def _read_rows(path: Path) -> tuple[list[str], list[list[str]]]:
    """The first row of a text file of commas, semicolons or tabs, and the others, all of one length."""
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
                    f"{path}: line {reader.line_num} has {len(row)} columns and the first has {len(header)}."
                )
            else:
                rows.append(row)
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num} cannot be read: {error}.") from error
    if not header:
        raise InputError(f"{path} has no rows of factors under a header.")
    return header, rows


def _order(path: Path, files: list[str], pictures: list[str]) -> list[int]:
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


def _numbers_or_words(name: str, column: NDArray[Any]) -> NDArray[Any]:
    """Integers or floats where every entry is one, else words."""
    if column.dtype.kind in "OUS":
        column = column.astype(str)
        if (column == "").any():
            raise InputError(f"factor {name} has empty entries.")
        for number in (np.int64, np.float64):
            try:
                column = column.astype(number)
                break
            except (ValueError, OverflowError):
                continue
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        raise InputError(f"factor {name} has NaN or infinite entries.")
    if column.dtype.kind not in "iufUSb":
        raise InputError(f"factor {name} must be numbers or words, got {column.dtype}.")
    return column


def read_matrix(path: Path) -> NDArray[Any]:
    """A matrix from an .npy file, or from a .csv file of rows, with a header or without.

    Where the first row could be either, as in a table of words, it is a row if each entry is found below it again.
    """
    if not path.is_file():
        raise InputError(f"there is no file {path}.")
    if path.suffix.lower() == ".npy":
        try:
            return np.asarray(np.load(path, allow_pickle=False))
        except (ValueError, OSError, EOFError) as error:
            raise InputError(f"{path} cannot be read: {error}") from error
    if path.suffix.lower() != ".csv":
        raise InputError(f"{path} is neither an .npy nor a .csv file.")
    header, rows = _read_rows(path)
    for number, row in enumerate([header, *rows], start=1):
        if not all(cell.strip() for cell in row):
            raise InputError(f"{path}: row {number} has an empty cell.")
    for table in ([header, *rows], rows):  # a header is a first row that is not numbers where all others are
        for kind in (np.int64, np.float64):
            try:
                return np.array(table, dtype=kind)
            except (ValueError, OverflowError):
                continue
    words = np.array([header, *rows], dtype=str)
    is_data = all(name in column[1:] for name, column in zip(header, words.T, strict=True))
    columns = [_numbers_or_words(header[k], column) for k, column in enumerate((words if is_data else words[1:]).T)]
    return np.stack([column.astype(object) for column in columns], axis=1)
