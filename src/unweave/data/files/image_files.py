"""Files with arrays of images: .npy, .npz and HDF5, with factors if they have any. Nothing is dropped silently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.files.arrays import DAMAGE, check_memory, npz_headers, read_npy
from unweave.data.files.factor_tables import FACTOR_KEYS
from unweave.data.files.picture_files import listed
from unweave.errors import InputError, extra

IMAGE_KEYS = ("images", "imgs", "x")


@dataclass(frozen=True)
class Found:
    """The content of a file: images, factors or None, and notes on what was not used."""

    images: NDArray[Any]
    factors: NDArray[Any] | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """An array in a file, before it is read."""

    shape: tuple[int, ...]
    num_bytes: int
    unusable: str = ""  # why it cannot be read, if so


def read_image_file(path: Path) -> Found:
    """Read the images of a file, and its factors if it has any."""
    if not path.exists():
        raise InputError(f"there is no file or folder {path}.")
    try:
        match path.suffix.lower():
            case ".npy":
                return Found(read_npy(path), None)
            case ".npz":
                return _read_npz(path)
            case ".h5" | ".hdf5":
                return _read_hdf5(path)
    except InputError:
        raise
    except (OSError, *DAMAGE) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    raise InputError(f"{path} is not a folder, nor an .npy, .npz, .h5 or .hdf5 file.")


def _read_npz(path: Path) -> Found:
    headers = npz_headers(path)
    pickled = "holds Python objects, which are not safe to open"
    entries = {
        key: Entry(header.shape, header.num_bytes, pickled if header.dtype.hasobject else "")
        for key, header in headers.items()
    }
    images, factors, notes = _choose(path, entries)
    with np.load(path, allow_pickle=False) as archive:
        return Found(archive[images], None if factors is None else archive[factors], notes)


def _read_hdf5(path: Path) -> Found:
    h5py = extra("h5py", "hdf5")
    with h5py.File(path) as file:
        entries = {}
        for key, item in file.items():
            if not isinstance(item, h5py.Dataset):
                entries[key] = Entry((), 0, "is a group")
            elif item.dtype.hasobject and h5py.check_string_dtype(item.dtype) is None:
                entries[key] = Entry(item.shape or (), 0, "has entries of variable length")
            else:
                entries[key] = Entry(item.shape or (), item.size * item.dtype.itemsize if item.shape else 0)
        images, factors, notes = _choose(path, entries)
        labels = None if factors is None else file[factors]
        if labels is not None:
            labels = np.array((labels.asstr() if h5py.check_string_dtype(labels.dtype) else labels)[()])
        return Found(file[images][()], labels, notes)


def _choose(path: Path, entries: Mapping[str, Entry]) -> tuple[str, str | None, tuple[str, ...]]:
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
