"""Data sets from published files, which are verified and converted once to a memory-mapped array in grid order."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.data.factor_data import FactorData, check_image_size, digest
from unweave.data.files import data_folder
from unweave.data.files.arrays import Bytes, cached_array
from unweave.data.files.downloads import RemoteFile, verify
from unweave.data.files.pictures import BEFORE_FILTERS, Filter, check_filter, named_filter, resize
from unweave.errors import Unavailable
from unweave.factors import FactorSpace
from unweave.progress import progress

CHUNK = 1024  # images converted at a time


class Published(FactorData):
    """A data set read from the files on its card, at any image size and by any filter.

    The array of each size and filter is converted once and stored.
    """

    newer = BEFORE_FILTERS
    array_name = "images"
    pixels = 64  # width and height of the images in the files

    def __init__(self, *, size: int | None = None, filter: Filter | None = "bilinear") -> None:
        pixels = check_image_size(self.name, self.card.shape[-1] if size is None else size)
        self.shape = (self.card.shape[0], pixels, pixels)
        self.filter = named_filter(check_filter(self.name, filter), self.pixels, pixels)
        self.resolved = {"size": pixels, "filter": self.filter}

    def prepare(self) -> None:
        """Verify and convert the files, once."""
        _ = self._images

    def fingerprint(self) -> str:
        """Return a hash of the published checksums and of the version of the conversion."""
        files = [f"{file.name} {file.size} {file.checksum}" for file in self.files]
        return f"v{self.version}-{digest(self.array_name, *files)}"

    @property
    def array_path(self) -> Path:
        """The converted array of this size and filter."""
        by = f"-{self.filter}" if self.filter else ""
        return data_folder(self.name) / f"{self.array_name}-v{self.version}-{self.shape[-1]}{by}.npy"

    @cached_property
    def _images(self) -> Bytes:
        return cached_array(self.array_path, (self.grid.size, *self.shape), self._convert_files)

    @property
    def grid(self) -> FactorSpace:
        """The grid of the stored array, which may have factors that the space hides."""
        return self.space

    @property
    def files(self) -> tuple[RemoteFile, ...]:
        """The files that are converted."""
        return self.card.files

    @abstractmethod
    def _convert(self, files: list[Path], out: Rows) -> None:
        """Store every image of the verified files in its row of ``out``."""

    def _convert_files(self, array: Bytes) -> None:
        files = source_files(self)
        with progress(f"converting {self.name}", len(array)) as advance:
            out = Rows(self, array, advance)
            self._convert(files, out)
        out.check_whole()

    def _read(self, index: Tensor, generator: torch.Generator | None) -> Tensor:
        return torch.from_numpy(self._images[index.numpy()])


class Rows:
    """An array during conversion, with a record of which rows have been filled."""

    def __init__(self, data: Published, array: Bytes, advance: Any) -> None:
        self._data, self._array, self._advance = data, array, advance
        self._filled = np.zeros(len(array), bool)

    def put(self, rows: slice | NDArray[np.integer], images: NDArray[np.generic]) -> None:
        """Resize images (B, H, W) or (B, H, W, C) uint8 and store them in these rows."""
        channels, size = self._data.shape[0], self._data.shape[-1]
        if images.ndim == 3:
            images = images[..., None]
        pixels = self._data.pixels
        if images.ndim != 4 or images.shape[1:3] != (pixels, pixels):
            raise Unavailable(
                f"{self._data.name}: expected images of {pixels} × {pixels} pixels, found {images.shape}. "
                "This is another version of the file."
            )
        if images.dtype != np.uint8 or images.shape[-1] != channels:
            raise Unavailable(
                f"{self._data.name}: expected uint8 images with {channels} channels, found {images.dtype} "
                f"{images.shape}. This is another version of the file."
            )
        tensor = torch.from_numpy(np.ascontiguousarray(images.transpose(0, 3, 1, 2)))
        self._array[rows] = resize(tensor, size, self._data.filter).numpy()
        self._filled[rows] = True
        self._advance(len(images))

    def put_all(self, chunks: Iterable[tuple[slice, NDArray[np.generic]]], images: int) -> None:
        """Store chunks in grid order, after a check of the number of images."""
        self.expect(images)
        for rows, chunk in chunks:
            self.put(rows, chunk)

    def expect(self, images: int) -> None:
        """Refuse a file whose number of images is not that of the grid."""
        if images != len(self._array):
            raise Unavailable(
                f"{self._data.name}: the file has {images:,} images, but {len(self._array):,} were expected "
                f"({self._data.grid}). This is another version of the file."
            )

    def check_whole(self) -> None:
        """Refuse an array with missing images."""
        missing = int((~self._filled).sum())
        if missing:
            raise Unavailable(f"{self._data.name}: {missing:,} of {len(self._filled):,} images are not in the files.")


def source_files(data: Published) -> list[Path]:
    """Return the verified files of a set, or raise an error that says how to get the missing ones."""
    folder = data_folder(data.name)
    files = data.files
    paths = [folder / file.name for file in files]
    missing = [file for file, path in zip(files, paths, strict=True) if not path.exists()]
    if missing:
        names = ", ".join(file.name for file in missing)
        others = sorted(path.name for path in folder.glob(f"{data.array_name}-v*.npy"))
        unused = f" {', '.join(others)} was converted with another size or filter, and is not used." if others else ""
        raise Unavailable(
            f"{data.name} is not on this machine: run `unweave data fetch {data.name}`, or put {names} into {folder}."
            + unused
        )
    for file, path in zip(files, paths, strict=True):
        verify(path, file)
    return paths
