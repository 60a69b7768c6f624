"""Tables of factors: columns of numbers or words, as values on a grid."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.data.files.arrays import npz_headers, read_npy
from unweave.data.files.factor_columns import as_floats, is_number, missing_in, parse_column
from unweave.errors import InputError, extra, first_line, unknown
from unweave.factors import Categorical, Cyclic, Factor, FactorSpace, Ordered

Missing = Literal["error", "drop"]  # what happens to missing values of factors
KINDS: dict[str, type[Factor]] = {"ordered": Ordered, "cyclic": Cyclic, "categorical": Categorical}
CONTINUOUS = "continuous"  # a kind that has no grid
TABLE_FILES = (".npy", ".npz", ".csv", ".parquet")
FACTOR_KEYS = ("factors", "labels", "latents_classes")  # names of arrays in .npz and .h5 files
MATRIX_KEYS = ("codes", "z", "latents", "embeddings")
FILE_COLUMNS = ("file", "filename", "image", "path")
MOST_VALUES = 1000  # a column of fractions is continuous if it has more distinct values than this or than half its rows


@dataclass(frozen=True)
class Table:
    """Factors of N images, each column of its own kind.

    ``codes`` (N, K) are int64 values on ``space``. If a factor is continuous or has missing values, there is no space,
    and they are float64: numbers as given, words as the number of their category, NaN where a value is missing.
    """

    codes: Tensor
    names: tuple[str, ...]
    space: FactorSpace | None
    continuous: Mapping[str, int]  # the number of distinct values of each continuous factor
    values: Mapping[str, NDArray[Any]]  # the distinct values of each factor, in increasing order
    missing: Mapping[str, int] = field(default_factory=dict)  # the number of missing values, where there are any
    declared: Mapping[str, str] = field(default_factory=dict)  # the kinds that were given

    def __len__(self) -> int:
        return len(self.codes)

    def __str__(self) -> str:
        if self.space is not None:
            return str(self.space)
        shown = [self._described(name) for name in self.names[:16]]
        return " · ".join(shown) + (f" · and {len(self.names) - 16:,} more" if len(self.names) > 16 else "")

    def _described(self, name: str) -> str:
        kind = f"{name} continuous" if name in self.continuous else name
        return f"{kind}, {self.missing[name]:,} missing" if name in self.missing else kind

    @property
    def words(self) -> tuple[str, ...]:
        """The factors whose values are words, which have no order."""
        return tuple(name for name, values in self.values.items() if values.dtype.kind == "U")

    @property
    def numbers(self) -> NDArray[Any]:
        """The factors (N, K) as metrics take them: numbers as given, words as the number of their category."""
        if self.space is None:
            return self.codes.numpy()
        columns = [
            codes if self.values[name].dtype.kind in "UO" else self.values[name][codes]
            for name, codes in zip(self.names, self.codes.numpy().T, strict=True)
        ]
        return np.stack(columns, axis=1)

    @property
    def why_no_grid(self) -> str:
        """Return why there is no space of factors."""
        for name, values in self.continuous.items():
            return f"{name} is continuous, with {values:,} distinct values."
        name, count = next(iter(self.missing.items()))
        return f"{name} has {count:,} missing values."

    @classmethod
    def of(
        cls, columns: Mapping[str, NDArray[Any]], kinds: Mapping[str, str] | None = None, missing: Missing = "error"
    ) -> Table:
        """Make a table. By default, words become categories and numbers ordered values, smallest first.

        ``kinds`` overrides this. A column of fractions with many distinct values is continuous unless ``kinds`` has it.
        Missing values are refused with their count, or kept as NaN with ``missing="drop"``.
        """
        kinds = _checked_kinds(kinds, columns)
        if not columns:
            raise InputError("the table of factors has no columns.")
        shapes = {np.shape(column) for column in columns.values()}
        if len(shapes) > 1 or len(next(iter(shapes))) != 1:
            raise InputError(f"columns of factors must have one value for each row, got shapes {sorted(shapes)}.")
        absent = {name: missing_in(column) for name, column in columns.items()}
        counts = _count_missing(absent, missing)
        factors: dict[str, Factor] = {}
        parsed: dict[str, NDArray[Any]] = {}
        classes: dict[str, NDArray[np.int64]] = {}
        found: dict[str, NDArray[Any]] = {}
        continuous = {}
        for name, entries in columns.items():
            column = parse_column(name, entries[~absent[name]], mixed=kinds.get(name) == "categorical")
            values, inverse = np.unique(column, return_inverse=True)
            fractions = column.dtype.kind == "f" and bool((values % 1 != 0).any())
            kind = kinds.get(name) or ("categorical" if column.dtype.kind == "U" else "ordered")
            if kind == CONTINUOUS and column.dtype.kind == "U":
                raise InputError(f"factor {name} has words, so it cannot be continuous.")
            many = fractions and name not in kinds and len(values) > min(MOST_VALUES, len(column) // 2)
            if many or kind == CONTINUOUS:
                continuous[name] = len(values)
            factors[name] = KINDS.get(kind, Ordered)(len(values))
            parsed[name], found[name], classes[name] = column, values, inverse.reshape(-1).astype(np.int64)
        names = tuple(columns)
        if not continuous and not counts:
            space = FactorSpace(names, tuple(factors.values()))
            stacked = torch.stack([torch.from_numpy(column) for column in classes.values()], dim=1)
            return cls(stacked, names, space, continuous, found, declared=kinds)
        raw = np.full((len(absent[names[0]]), len(names)), np.nan)
        for k, (name, column) in enumerate(parsed.items()):
            words = column.dtype.kind == "U"
            raw[~absent[name], k] = classes[name] if words else as_floats(name, column)
        return cls(torch.from_numpy(raw), names, None, continuous, found, counts, kinds)


def _count_missing(absent: Mapping[str, NDArray[np.bool_]], missing: Missing) -> dict[str, int]:
    """Return the number of missing values of each column that has any; refuse them unless they are to be dropped."""
    if missing not in ("error", "drop"):
        raise unknown("value of missing", str(missing), ("error", "drop"))
    counts = {name: int(rows.sum()) for name, rows in absent.items() if rows.any()}
    rows = len(next(iter(absent.values())))
    for name, count in counts.items():
        if count == rows:
            raise InputError(f"factor {name} has no values at all: leave the column out.")
    if counts and missing == "error":
        listed = ", ".join(f"{name} has {count:,}" for name, count in counts.items())
        row = int(absent[next(iter(counts))].argmax()) + 1
        raise InputError(
            f"values are missing: {listed} of {rows:,} rows, the first in row {row}. Fill them in, or leave these rows "
            'out of that factor with missing="drop" (--missing drop; behind the name of a data set, ,missing=drop).'
        )
    return counts


def _checked_kinds(kinds: Mapping[str, str] | None, columns: Mapping[str, Any]) -> Mapping[str, str]:
    if kinds is not None and not isinstance(kinds, Mapping):
        raise InputError(f"kinds must be a dictionary of factors, as in {{'angle': 'cyclic'}}, got {kinds!r}.")
    for name, kind in (kinds or {}).items():
        if name not in columns:
            raise unknown("factor", name, columns)
        if kind not in (*KINDS, CONTINUOUS):
            raise unknown("kind", str(kind), (*KINDS, CONTINUOUS))
    return kinds or {}


def read_csv(
    path: Path, pictures: Sequence[Path] | None, kinds: Mapping[str, str] | None, missing: Missing = "error"
) -> Table:
    """Read a CSV file with a header.

    A column called file, filename, image or path names the picture of each row; without one, rows are in the order of
    the images.

    Args:
        path: The file, separated by commas, semicolons or tabs.
        pictures: The files of the images, in whose order rows are sorted; None keeps the order of the rows.
        kinds: The kind of each factor by name; others, or all if None, get theirs from their values, see
            :meth:`Table.of`.
        missing: What happens to missing values: "error" refuses them, "drop" keeps them as NaN.

    Returns:
        The factors, without the column of file names.
    """
    return Table.of(in_order(str(path), csv_columns(path), pictures), kinds, missing)


def csv_columns(path: Path, *, header_optional: bool = False) -> dict[str, NDArray[Any]]:
    """Return the columns of a CSV file as text, by name.

    A file without a header is refused, or its columns are called factor0, factor1, … if the header is optional. If all
    columns are words, the first row is data if each of its words occurs again below it, else a header.
    """
    header, rows = _read_rows(path)
    header = [name.strip() for name in header]
    is_row = _is_row(header, rows)
    if is_row and header_optional:
        header, rows = [f"factor{k}" for k in range(len(header))], [header, *rows]
    if "" in header or len(set(header)) != len(header):
        raise InputError(f"{path}: each column needs a different name in the first line, got {header}.")
    if not rows:
        raise InputError(f"{path} has no rows of factors below its header.")
    if is_row and not header_optional:
        raise InputError(
            f"{path} has no header: its first line is {','.join(header)[:60]}. Add a line of names above it."
        )
    return {name: np.array([row[k].strip() for row in rows]) for k, name in enumerate(header)}


def from_frame(
    frame: Any, pictures: Sequence[Path] | None, kinds: Mapping[str, str] | None, missing: Missing = "error"
) -> Table:
    """Make a table from a pandas DataFrame, or anything with its ``columns`` and ``to_numpy``; see :func:`read_csv`.

    Args:
        frame: The frame, one row per image; a column of file names is used as in a CSV file.
        pictures: The files of the images, in whose order rows are sorted; None keeps the order of the rows.
        kinds: The kind of each factor by name; others, or all if None, get theirs from their values, see
            :meth:`Table.of`.
        missing: What happens to missing values: "error" refuses them, "drop" keeps them as NaN.

    Returns:
        The factors, without the column of file names.
    """
    return Table.of(in_order("the frame of factors", frame_columns(frame), pictures), kinds, missing)


def frame_columns(frame: Any) -> dict[str, NDArray[Any]]:
    """Return the columns of a frame by name."""
    names = [str(name) for name in frame.columns]
    if len(set(names)) != len(names):
        raise InputError(f"the frame of factors has two columns of the same name: {names}.")
    return {name: np.asarray(frame[key].to_numpy()) for name, key in zip(names, frame.columns, strict=True)}


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


def read_matrix(path: Path) -> Any:
    """Read a matrix of numbers: an .npy or .npz file, a .csv file with or without a header, or a .parquet file.

    An .npz file that ``scipy.sparse.save_npz`` wrote is returned as scipy's sparse matrix.
    """
    match _ending(path):
        case ".npy":
            return np.array(read_npy(path))
        case ".npz":
            sparse = {"format", "shape", "data"} <= npz_headers(path).keys()
            return _read_sparse(path) if sparse else _only_array(path, MATRIX_KEYS)
        case ".parquet":
            columns = frame_columns(read_parquet(path))
        case _:
            columns = csv_columns(path, header_optional=True)
    for name, column in columns.items():
        if (absent := missing_in(column)).any():
            raise InputError(f"{path}: column {name} has no value in row {int(absent.argmax()) + 1}.")
    parsed = [parse_column(name, column) for name, column in columns.items()]
    if {column.dtype.kind for column in parsed} == {"i"}:
        return np.stack(parsed, axis=1)
    words = [name for name, column in zip(columns, parsed, strict=True) if column.dtype.kind == "U"]
    if words:
        raise InputError(f"{path}: column {words[0]} has words, but numbers are needed.")
    return np.stack([as_floats(name, column) for name, column in zip(columns, parsed, strict=True)], axis=1)


def _read_sparse(path: Path) -> Any:
    from scipy.sparse import load_npz

    try:
        return load_npz(path)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(f"{path} cannot be read as a sparse matrix of scipy: {error}.") from error


def read_table(
    path: Path,
    *,
    names: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    missing: Missing = "error",
    pictures: Sequence[Path] | None = None,
    header_optional: bool = False,
) -> Table:
    """Read factors from a .csv, .parquet, .npy or .npz file.

    Args:
        path: The file.
        names: The names of the columns of an array; other files have their own.
        kinds: The kinds of factors by name.
        missing: What happens to missing values.
        pictures: The pictures that a column of file names refers to.
        header_optional: Whether a CSV file may have no header.

    Returns:
        The factors.
    """
    ending = _ending(path)
    if ending in (".npy", ".npz"):
        array = np.array(read_npy(path)) if ending == ".npy" else _only_array(path, FACTOR_KEYS)
        return from_array(array, names, kinds, missing)
    if names is not None:
        raise InputError(f"{path} has names for its columns: leave names= out.")
    if ending == ".parquet":
        return from_frame(read_parquet(path), pictures, kinds, missing)
    columns = csv_columns(path, header_optional=header_optional)
    return Table.of(in_order(str(path), columns, pictures), kinds, missing)


def from_array(
    array: NDArray[Any], names: Sequence[str] | None, kinds: Mapping[str, str] | None, missing: Missing = "error"
) -> Table:
    """Make a table from an array (N, K) or (N,).

    Args:
        array: The values, one row per image; (N,) is a single factor.
        names: The K names of the factors; factor0, factor1, … if None.
        kinds: The kind of each factor by name; others, or all if None, get theirs from their values, see
            :meth:`Table.of`.
        missing: What happens to missing values: "error" refuses them, "drop" keeps them as NaN.

    Returns:
        The factors, one for each column.
    """
    columns = array[:, None] if array.ndim == 1 else array
    if columns.ndim != 2:
        raise InputError(f"factors must be (N, K), got shape {columns.shape}.")
    names = [f"factor{k}" for k in range(columns.shape[1])] if names is None else list(names)
    words = all(isinstance(name, str) for name in names)
    if not words or len(names) != columns.shape[1] or len(set(names)) != len(names):
        raise InputError(f"{columns.shape[1]} columns of factors need as many different names, got {names}.")
    return Table.of(dict(zip(names, columns.T, strict=True)), kinds, missing)


def read_parquet(path: Path) -> Any:
    """Read a .parquet file as a data frame."""
    pandas = extra("pandas", "study")
    try:
        return pandas.read_parquet(path)
    except Exception as error:  # pyarrow has its own exceptions for a file that is not what its name says
        raise InputError(f"{path} cannot be read: {first_line(error)}.") from error


def _ending(path: Path) -> str:
    if not path.is_file():
        raise InputError(f"there is no file {path}.")
    ending = path.suffix.lower()
    if ending not in TABLE_FILES:
        raise InputError(f"{path} must be a file that ends in {', '.join(TABLE_FILES[:-1])} or {TABLE_FILES[-1]}.")
    return ending


def _only_array(path: Path, keys: Sequence[str]) -> NDArray[Any]:
    """Return the array of an .npz file that has one of the names, or the only one."""
    headers = npz_headers(path)
    named = [key for key in keys if key in headers] or (list(headers) if len(headers) == 1 else [])
    if not named:
        raise InputError(f"{path}: name the array {keys[0]!r}; the file has {', '.join(headers) or 'no arrays'}.")
    if headers[named[0]].dtype.hasobject:
        raise InputError(f"{path}: {named[0]} holds Python objects, which are not safe to open.")
    with np.load(path, allow_pickle=False) as archive:
        return np.array(archive[named[0]])
