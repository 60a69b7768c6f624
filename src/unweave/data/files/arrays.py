"""Arrays on disk: written once, completely or not at all, and read through a memory map or in slices."""

from __future__ import annotations

import lzma
import math
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from filelock import FileLock
from numpy.lib import format as npy
from numpy.typing import NDArray

from unweave.errors import InputError, Unavailable

Bytes = NDArray[np.uint8]
# what reading a damaged .npy or .npz file can raise; RuntimeError: encrypted, or unknown compression
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    KeyError,
    ValueError,
    TypeError,
    RuntimeError,
)


def cached_array(path: Path, shape: tuple[int, ...], fill: Callable[[Bytes], None]) -> Bytes:
    """Return the uint8 array of this shape at ``path``, memory-mapped; if there is none, ``fill`` writes it first.

    It is written to a temporary file under a lock and renamed once it is complete and on disk. A file that is not a
    complete array of this shape is replaced.
    """
    try:
        if (array := _open(path, shape)) is not None:
            return array
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path.with_name(f"{path.name}.lock")).acquire()
    except OSError as error:
        raise Unavailable(
            f"cannot store {path}: {error.strerror or error}. Set UNWEAVE_DATA to another folder."
        ) from error
    with lock:
        if (array := _open(path, shape)) is None:  # another process may have made it while this one waited
            _write(path, shape, fill)
            array = _open(path, shape)
    assert array is not None
    return array


def _open(path: Path, shape: tuple[int, ...]) -> Bytes | None:
    try:
        array = npy.open_memmap(path, mode="r")
    except (FileNotFoundError, ValueError):  # ValueError: truncated, or not an array
        return None
    return np.asarray(array) if array.shape == shape and array.dtype == np.uint8 else None


def _write(path: Path, shape: tuple[int, ...], fill: Callable[[Bytes], None]) -> None:
    partial = path.with_name(f"{path.name}.partial")
    try:
        try:
            array = npy.open_memmap(partial, mode="w+", dtype=np.uint8, shape=shape)
            with partial.open("r+b") as stream:
                if hasattr(os, "posix_fallocate"):  # a full disk is an error here, but a crash while writing to a map
                    os.posix_fallocate(stream.fileno(), 0, partial.stat().st_size)
        except OSError as error:
            raise Unavailable(f"cannot write {path}: {error.strerror or error}.") from error
        fill(array)
        array.flush()
        with partial.open("r+b") as stream:
            os.fsync(stream.fileno())
        partial.replace(path)
    finally:
        if partial.is_file():
            partial.unlink()


class Header(NamedTuple):
    """The header of an array on disk."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    fortran_order: bool

    @property
    def num_bytes(self) -> int:
        """The memory that the array needs, in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_npy(path: Path) -> NDArray[np.generic]:
    """Memory-map an .npy file; a damaged or pickled file is refused before any memory is allocated."""
    try:
        with path.open("rb") as stream:
            header = _npy_header(stream)
            there = path.stat().st_size - stream.tell()
        if header.dtype.hasobject:
            raise InputError(f"{path} holds Python objects, which are not safe to open: save numbers or strings.")
        _check_promise(path, header, there)
        array: NDArray[np.generic] = np.load(path, mmap_mode="r" if header.num_bytes else None, allow_pickle=False)
        return array
    except InputError:
        raise
    except (OSError, *DAMAGE) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def _check_promise(path: Path, header: Header, there: int) -> None:
    if header.num_bytes > there and not header.dtype.hasobject:
        raise InputError(
            f"{path} is damaged: its header claims {in_words(header.num_bytes)}, but it has {in_words(there)}."
        )


def npz_headers(path: Path) -> dict[str, Header]:
    """Return the header of each array of an .npz file, without reading the arrays."""
    headers = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if member.filename.endswith(".npy"):
                    with archive.open(member) as stream:
                        header = _npy_header(stream)
                        _check_promise(path, header, member.file_size - stream.tell())
                    headers[member.filename.removesuffix(".npy")] = header
    except InputError:
        raise
    except (OSError, *DAMAGE) as error:
        raise InputError(f"{path} cannot be read: it is damaged, or not an .npz file ({error}).") from error
    return headers


def check_memory(path: Path, key: str, num_bytes: int) -> None:
    """Refuse to read an array that does not fit into the memory of this machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else None
    if memory is not None and num_bytes > memory:
        raise InputError(
            f"{path}: {key} needs {in_words(num_bytes)}, but this machine has {in_words(memory)} of memory. "
            "Save it as an .npy file, which is read in parts."
        )


def in_words(num_bytes: int) -> str:
    """Write a number of bytes in a readable unit."""
    for unit, factor in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if num_bytes >= factor:
            return f"{num_bytes * 10 // factor / 10:,.1f} {unit}" if num_bytes < 2**80 else "more than 10^24 bytes"
    return f"{num_bytes} bytes"


def npz_rows(path: Path, key: str, rows: int) -> Iterator[tuple[slice, NDArray[np.generic]]]:
    """Read one array of an .npz file in slices of ``rows``, never all of it at once."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{key}.npy") as stream:
            header = _rows_header(stream)
            shape, dtype = header.shape, header.dtype
            row_bytes = int(np.prod(shape[1:])) * dtype.itemsize
            for start in range(0, shape[0], rows):
                stop = min(start + rows, shape[0])
                block = stream.read((stop - start) * row_bytes)
                yield slice(start, stop), np.frombuffer(block, dtype).reshape(stop - start, *shape[1:])
    except DAMAGE as error:
        raise Unavailable(f"{path} is damaged, or not an .npz file with an array {key!r}: {error}") from error


def npz_shape(path: Path, key: str) -> tuple[int, ...]:
    """Return the shape of one array of an .npz file, read from its header only."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{key}.npy") as stream:
            return _rows_header(stream).shape
    except DAMAGE as error:
        raise Unavailable(f"{path} is damaged, or not an .npz file with an array {key!r}: {error}") from error


def _rows_header(stream: IO[bytes]) -> Header:
    header = _npy_header(stream)
    if header.fortran_order or header.dtype.hasobject or not header.shape:
        raise ValueError("the array is not stored row by row")
    return header


def _npy_header(stream: IO[bytes]) -> Header:
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    try:
        shape, fortran_order, dtype = read(stream)
    except Exception as error:  # numpy evaluates the text of the header, and damaged text can raise anything
        raise ValueError(f"the header is damaged ({error})") from error
    if any(length < 0 for length in shape):
        raise ValueError(f"the header has a negative shape, {shape}")
    return Header(shape, dtype, fortran_order)
