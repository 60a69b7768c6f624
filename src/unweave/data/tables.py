"""Tables of factors: columns of numbers or words, as values on a grid."""

from __future__ import annotations

import csv
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
        for name, kind in (kinds or {}).items():
            if name not in columns:
                raise unknown("factor", name, columns)
            if kind not in KINDS:
                raise unknown("kind", kind, KINDS)
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
        return cls(torch.stack(codes, dim=1), FactorSpace.of(**factors))


def read_csv(path: Path, pictures: list[Path] | None, kinds: Mapping[str, str] | None) -> Table:
    """A CSV file with a header; a column called file, filename, image or path puts the rows in the pictures' order."""
    if not path.exists():
        raise InputError(f"there is no file {path}.")
    with path.open(newline="", encoding="utf-8-sig") as stream:
        header, *rows = [row for row in csv.reader(stream) if row] or [[]]
    if not header or not rows:
        raise InputError(f"{path} has no rows of factors under a header.")
    ragged = next((number for number, row in enumerate(rows, 2) if len(row) != len(header)), None)
    if ragged is not None:
        raise InputError(f"{path}: line {ragged} has another number of columns than the header, {len(header)}.")
    if len(set(header)) != len(header):
        raise InputError(f"{path}: two columns have the same name.")
    columns = {name.strip(): np.array([row[k].strip() for row in rows]) for k, name in enumerate(header)}
    files = next((columns.pop(name) for name in FILE_COLUMNS if name in columns), None)
    if files is not None and pictures is not None:
        order = _order(path, [Path(file).name for file in files], [picture.name for picture in pictures])
        columns = {name: column[order] for name, column in columns.items()}
    return Table.of(columns, kinds)


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
            except ValueError:
                continue
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        raise InputError(f"factor {name} has NaN or infinite entries.")
    if column.dtype.kind not in "iufUSb":
        raise InputError(f"factor {name} must be numbers or words, got {column.dtype}.")
    return column


def read_matrix(path: Path) -> NDArray[Any]:
    """A matrix from an .npy file, or from a .csv file of rows, with a header or without."""
    if not path.exists():
        raise InputError(f"there is no file {path}.")
    if path.suffix == ".npy":
        try:
            return np.asarray(np.load(path, allow_pickle=False))
        except (ValueError, OSError, EOFError) as error:
            raise InputError(f"{path} cannot be read: {error}") from error
    if path.suffix != ".csv":
        raise InputError(f"{path} is neither an .npy nor a .csv file.")
    with path.open(newline="", encoding="utf-8-sig") as stream:
        rows = [row for row in csv.reader(stream) if row]
    if not rows or len({len(row) for row in rows}) != 1:
        raise InputError(f"{path} has no rows, or rows of different lengths.")
    for first in (0, 1):  # a header is a first row that is not numbers where all others are
        try:
            return np.array(rows[first:], dtype=np.float64)
        except ValueError:
            continue
    return np.array(rows[1:], dtype=str)
