"""Arrays of images on disk: made once, whole or not at all, and then read through a memory map."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np
from filelock import FileLock
from numpy.lib import format as npy
from numpy.typing import NDArray

from unweave.errors import Unavailable

Bytes = NDArray[np.uint8]
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError)  # what reading a damaged .npz file can raise


def kept(path: Path, shape: tuple[int, ...], make: Callable[[Bytes], None]) -> Bytes:
    """The uint8 array of this shape at ``path``, memory-mapped; where there is none, ``make`` fills it first.

    It is made beside its place, under a lock, and moved there when it is whole and on disk. What is not a whole array
    of this shape is made again.
    """
    try:
        if (array := _open(path, shape)) is not None:
            return array
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path.with_name(f"{path.name}.lock")).acquire()
    except OSError as error:
        raise Unavailable(
            f"cannot keep {path}: {error.strerror or error}. Set UNWEAVE_DATA to another folder."
        ) from error
    with lock:
        if (array := _open(path, shape)) is None:  # another process may have made it while this one waited
            _make(path, shape, make)
            array = _open(path, shape)
    assert array is not None
    return array


def _open(path: Path, shape: tuple[int, ...]) -> Bytes | None:
    try:
        array = npy.open_memmap(path, mode="r")
    except (FileNotFoundError, ValueError):  # ValueError: cut short, or no array
        return None
    return np.asarray(array) if array.shape == shape and array.dtype == np.uint8 else None


def _make(path: Path, shape: tuple[int, ...], make: Callable[[Bytes], None]) -> None:
    partial = path.with_name(f"{path.name}.partial")
    try:
        try:
            array = npy.open_memmap(partial, mode="w+", dtype=np.uint8, shape=shape)
            with partial.open("r+b") as stream:
                if hasattr(os, "posix_fallocate"):  # a full disk is an error here, and a crash while writing to a map
                    os.posix_fallocate(stream.fileno(), 0, partial.stat().st_size)
        except OSError as error:
            raise Unavailable(f"cannot write {path}: {error.strerror or error}.") from error
        make(array)
        array.flush()
        with partial.open("r+b") as stream:
            os.fsync(stream.fileno())
        partial.replace(path)
    finally:
        if partial.is_file():
            partial.unlink()


def npz_rows(path: Path, key: str, rows: int) -> Iterator[tuple[slice, NDArray[np.generic]]]:
    """One array of an .npz file in slices of ``rows``, without ever holding the whole of it."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{key}.npy") as stream:
            shape, dtype = _npy_header(stream)
            row_bytes = int(np.prod(shape[1:])) * dtype.itemsize
            for start in range(0, shape[0], rows):
                stop = min(start + rows, shape[0])
                block = stream.read((stop - start) * row_bytes)
                yield slice(start, stop), np.frombuffer(block, dtype).reshape(stop - start, *shape[1:])
    except DAMAGE as error:
        raise Unavailable(f"{path} is damaged, or not an .npz file with an array {key!r}: {error}") from error


def npz_shape(path: Path, key: str) -> tuple[int, ...]:
    """The shape of one array of an .npz file, read from its header alone."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{key}.npy") as stream:
            return _npy_header(stream)[0]
    except DAMAGE as error:
        raise Unavailable(f"{path} is damaged, or not an .npz file with an array {key!r}: {error}") from error


def _npy_header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[np.generic]]:
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran_order, dtype = read(stream)
    if fortran_order or dtype.hasobject or not shape:
        raise ValueError("the array is not stored row by row")
    return shape, dtype
