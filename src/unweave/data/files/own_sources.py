"""Load the user's own images: a folder, a file, an array or a torch Dataset, with or without a table of factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor
from torch.utils.data import Dataset, IterableDataset

from unweave.data.factor_data import check_image_size
from unweave.data.files.arrays import DAMAGE, check_memory, npz_headers, read_npy
from unweave.data.files.factor_tables import (
    FACTOR_KEYS,
    Missing,
    Table,
    csv_columns,
    from_array,
    from_frame,
    in_order,
    read_table,
)
from unweave.data.files.pictures import Filter, check_filter, listed, picture_files, read_pictures
from unweave.data.own import OwnImages
from unweave.errors import InputError, extra
from unweave.names import ARRAY_FILES
from unweave.progress import progress

Array = NDArray[Any]
IMAGE_KEYS = ("images", "imgs", "x")


def load_own(
    source: str | Path | Array | Tensor | Dataset[Any],
    /,
    *,
    factors: Any = None,
    names: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    size: int | None = None,
    filter: Filter | None = "bilinear",
    missing: Missing = "error",
) -> OwnImages:
    """Load your own images: a folder of pictures, an .npy, .npz or .h5 file, an array, a tensor or a torch Dataset.

    Args:
        source: The images, or the path of their folder or file.
        factors: An (N, K) array, a pandas DataFrame, a dictionary of columns, or the path of a CSV, .parquet, .npy or
            .npz file. Each column has its own kind: words, floats or integers. The file ``factors.csv`` of a
            folder, an array called factors or labels of an .npz or .h5 file, and the labels of a Dataset are found
            without it.
        names: The names of the columns of factors.
        kinds: The kind of factors by their name: "ordered", "cyclic", "categorical" or "continuous".
        size: The height and width that images are resized to; without it they keep their own.
        filter: The filter by which they are resized: "bilinear", "lanczos", "bicubic" or "box".
        missing: What happens to missing values of factors: "error" refuses them with their count, and "drop" leaves
            these rows out of that factor.

    Returns:
        The images as a data set.
    """
    if size is not None:
        check_image_size("your own images", size)
    check_filter("your own images", filter)
    name, again = "these images", None
    pictures: list[Path] | None = None
    notes: tuple[str, ...] = ()
    found: Any = None
    if isinstance(source, str | Path):
        path = Path(source).expanduser().absolute()
        name = path.stem if path.suffix.lower() in ARRAY_FILES else path.name
        again = _how_to_load_again(path, factors, names, kinds, {"size": size, "filter": filter}, missing)
        if path.is_dir():
            pictures = picture_files(path)
            images, notes = read_pictures(pictures, size, filter)
            found = path / "factors.csv" if (path / "factors.csv").exists() else None
            notes += _other_files(path, pictures, factors, offer=found is None)
        else:
            file = read_image_file(path)
            images, found, notes = file.images, file.factors, file.notes
    elif isinstance(source, Dataset):
        images, found = read_dataset(source)
    else:
        images = _to_array(source)
    if factors is not None and found is not None:
        notes += ("the factors found with the images were not used, because factors= was given",)
    described: dict[str, Any] = {"names": names, "kinds": kinds, "missing": missing, "pictures": pictures}
    table = read_factors(found if factors is None else factors, **described)
    if table is not None and len(table) != len(images):
        raise InputError(
            f"{name}: there are {len(images):,} images and {len(table):,} rows of factors."
            + (" If the first line of the table is not a header, add one." if len(table) == len(images) - 1 else "")
        )
    return OwnImages(images, table, name=name, size=size, filter=filter, source=again, notes=notes)


def _how_to_load_again(
    path: Path,
    factors: Any,
    names: Sequence[str] | None,
    kinds: Mapping[str, str] | None,
    resizing: dict[str, Any],
    missing: Missing,
) -> dict[str, Any] | None:
    """Return the source of the identity; None if the factors are in memory only."""
    if factors is not None and not isinstance(factors, str | Path):
        return None
    options = {
        "factors": None if factors is None else str(Path(factors).expanduser().absolute()),
        "names": None if names is None else list(names),
        "kinds": None if kinds is None else dict(kinds),
        **resizing,
        **({} if missing == "error" else {"missing": missing}),
    }
    return {"path": str(path), "options": options}


def _other_files(folder: Path, pictures: Sequence[Path], factors: Any, *, offer: bool) -> tuple[str, ...]:
    """List what is in a folder but not used, except hidden files; a table that may have the factors is offered."""
    known = {*pictures, folder / "factors.csv"}
    if isinstance(factors, str | Path):
        known.add(Path(factors).expanduser().absolute())
    others = sorted(path for path in folder.iterdir() if path not in known and not path.name.startswith("."))
    tables = [path for path in others if path.suffix.lower() == ".csv" and path.is_file()]
    likely = [path for path in tables if path.name == "labels.csv"] or tables
    offered = (_offer(likely[0], pictures),) if offer and factors is None and len(likely) == 1 else ()
    others = [path for path in others if not offered or path != likely[0]]
    names = [f"{path.name}/" if path.is_dir() else path.name for path in others]
    return (*offered, *((f"not used from the folder {folder.name}: {listed(names)}",) if names else ()))


def _offer(path: Path, pictures: Sequence[Path]) -> str:
    """Return a note that says how to use a table that was found beside pictures, or why it does not fit."""
    try:
        columns = in_order(path.name, csv_columns(path), pictures)
        rows = len(next(iter(columns.values()), ()))
        if rows != len(pictures):
            raise InputError(f"it has {rows:,} rows for {len(pictures):,} pictures.")
    except InputError as error:
        return f"{path.name} is not used as a table of factors: {error}"
    return (
        f"{path.name} has the columns {listed(list(columns))} for these pictures: to use them as factors, pass "
        f"factors={str(path)!r} (on the command line: {path.parent},factors={path})"
    )


def read_factors(
    factors: Any,
    *,
    names: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    missing: Missing = "error",
    pictures: Sequence[Path] | None = None,
    header_optional: bool = False,
) -> Table | None:
    """Return factors as a table, None where there are none.

    Args:
        factors: An array (N, K), a DataFrame, a dictionary of columns, the path of a file, or a table.
        names: The names of the columns of an array.
        kinds: The kinds of factors by name.
        missing: What happens to missing values: "error", or "drop" to leave these rows out of that factor.
        pictures: The pictures that a column of file names refers to.
        header_optional: Whether a CSV file may have no header.

    Returns:
        The table.
    """
    if factors is None:
        if names or kinds:
            raise InputError("names and kinds describe factors, but there are none.")
        return None
    if isinstance(factors, Table):
        return factors
    if isinstance(factors, str | Path):
        options: dict[str, Any] = {"kinds": kinds, "missing": missing, "pictures": pictures}
        return read_table(Path(factors).expanduser(), names=names, header_optional=header_optional, **options)
    if isinstance(factors, Mapping):
        return Table.of({str(name): _to_array(column) for name, column in factors.items()}, kinds, missing)
    if hasattr(factors, "columns") and hasattr(factors, "to_numpy"):
        if names is not None:
            raise InputError("the frame of factors has names for its columns: leave names= out.")
        return from_frame(factors, pictures, kinds, missing)
    return from_array(_to_array(factors), names, kinds, missing)


def _to_array(source: Any) -> Array:
    """Return an array or a tensor, or a list that numpy can convert, as an array."""
    try:
        if isinstance(source, Tensor):
            source = source.detach().cpu()
            return np.asarray((source.float() if source.dtype == torch.bfloat16 else source).numpy())
        return np.asarray(source)
    except (TypeError, ValueError, RuntimeError, NotImplementedError) as error:
        raise InputError(f"an array or a dense tensor with values is needed, got {type(source).__name__}.") from error


def read_dataset(dataset: Dataset[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Read every item once: images (N, …) and labels (N, K), None if the items are images only."""
    if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__"):
        raise InputError(
            f"{type(dataset).__name__} has no length: pass a map-style Dataset, or an array of its images."
        )
    images: list[NDArray[Any]] = []
    labels: list[list[Any]] = []
    with progress("reading the Dataset", len(dataset)) as advance:
        for index in range(len(dataset)):
            image, *rest = _parts(index, dataset[index])
            images.append(image)
            labels.append([value for part in rest for value in _values(index, part)])
            if image.shape != images[0].shape or len(labels[-1]) != len(labels[0]):
                raise InputError(
                    f"item {index} of the Dataset has an image of {image.shape} and {len(labels[-1])} labels, but item "
                    f"0 has {images[0].shape} and {len(labels[0])}: all must have the same shapes."
                )
            advance(1)
    if not images:
        raise InputError("the Dataset is empty.")
    return np.stack(images), np.array(labels, dtype=object) if labels[0] else None


def _parts(index: int, item: Any) -> list[Any]:
    """Return the image of an item as an array, and its labels unchanged."""
    image, *labels = item if isinstance(item, tuple | list) else (item,)
    if not isinstance(image, Tensor | np.ndarray | Image.Image):
        raise InputError(
            f"item {index} of the Dataset must be an image, or a tuple of an image and labels; "
            f"the image must be a tensor, an array or a PIL image, got {type(image).__name__}."
        )
    return [image.detach().cpu().numpy() if isinstance(image, Tensor) else np.asarray(image), *labels]


def _values(index: int, label: Any) -> list[Any]:
    """Return a label as a flat list: a number, a string, or a row of them."""
    if isinstance(label, Tensor | np.ndarray | np.generic):
        label = label.tolist()
    row = label if isinstance(label, list | tuple) else [label]
    if not all(isinstance(value, bool | int | float | str) for value in row):
        raise InputError(f"the labels of item {index} must be numbers or strings, got {label!r}.")
    return list(row)


@dataclass(frozen=True)
class FileContent:
    """The content of a file: images, factors or None, and notes on what was not used."""

    images: NDArray[Any]
    factors: NDArray[Any] | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ArrayEntry:
    """An array in a file, before it is read."""

    shape: tuple[int, ...]
    num_bytes: int
    unusable: str = ""  # why it cannot be read, if so


def read_image_file(path: Path) -> FileContent:
    """Read the images of a file, and its factors if it has any."""
    if not path.exists():
        raise InputError(f"there is no file or folder {path}.")
    try:
        match path.suffix.lower():
            case ".npy":
                return FileContent(read_npy(path), None)
            case ".npz":
                return _read_npz(path)
            case ".h5" | ".hdf5":
                return _read_hdf5(path)
    except InputError:
        raise
    except (OSError, *DAMAGE) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    raise InputError(f"{path} is not a folder, nor an .npy, .npz, .h5 or .hdf5 file.")


def _read_npz(path: Path) -> FileContent:
    headers = npz_headers(path)
    pickled = "holds Python objects, which are not safe to open"
    entries = {
        key: ArrayEntry(header.shape, header.num_bytes, pickled if header.dtype.hasobject else "")
        for key, header in headers.items()
    }
    images, factors, notes = _choose(path, entries)
    with np.load(path, allow_pickle=False) as archive:
        return FileContent(archive[images], None if factors is None else archive[factors], notes)


def _read_hdf5(path: Path) -> FileContent:
    h5py = extra("h5py", "hdf5")
    with h5py.File(path) as file:
        entries = {}
        for key, item in file.items():
            if not isinstance(item, h5py.Dataset):
                entries[key] = ArrayEntry((), 0, "is a group")
            elif item.dtype.hasobject and h5py.check_string_dtype(item.dtype) is None:
                entries[key] = ArrayEntry(item.shape or (), 0, "has entries of variable length")
            else:
                entries[key] = ArrayEntry(item.shape or (), item.size * item.dtype.itemsize if item.shape else 0)
        images, factors, notes = _choose(path, entries)
        labels = None if factors is None else file[factors]
        if labels is not None:
            labels = np.array((labels.asstr() if h5py.check_string_dtype(labels.dtype) else labels)[()])
        return FileContent(file[images][()], labels, notes)


def _choose(path: Path, entries: Mapping[str, ArrayEntry]) -> tuple[str, str | None, tuple[str, ...]]:
    """Choose the arrays of images and of factors, and name those that are not used."""
    named = [key for key in IMAGE_KEYS if key in entries]
    images = named or [key for key, entry in entries.items() if len(entry.shape) >= 3 and not entry.unusable]
    if len(images) != 1:
        raise InputError(
            f"{path}: name the array of images 'images'; the file has {', '.join(entries) or 'no arrays'}."
        )
    factors = next((key for key in FACTOR_KEYS if key in entries), None)
    for key in filter(None, (images[0], factors)):
        if entries[key].unusable:
            raise InputError(
                f"{path}: {key} {entries[key].unusable}. Save it as an array of numbers or strings, or rename it."
            )
        check_memory(path, key, entries[key].num_bytes)
    unused = [key for key in entries if key not in (images[0], factors)]
    return images[0], factors, (f"not used from {path.name}: {listed(unused)}",) if unused else ()
