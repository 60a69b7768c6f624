"""One's own images: a folder, an array, a file, with a table of factors or without one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError
from torch import Tensor

from unweave.data.factor_data import Batch, Card, FactorData, check_image_size
from unweave.data.resize import resize
from unweave.data.tables import Table, read_csv
from unweave.errors import InputError, extra
from unweave.factors import FactorSpace

PICTURES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm"}
FACTOR_KEYS = ("factors", "labels", "latents_classes")
Array = NDArray[Any]


class OwnImages(FactorData):
    """Images with a table of factors, a row each, or without.

    ``images`` may be uint8, or floats from 0 to 1; (N, H, W), (N, H, W, C) or (N, C, H, W). The grid is spanned by the
    values that occur. A point that occurs several times gives any of its images, by chance; one that never occurs is an
    error when it is asked for. :meth:`sample` draws rows that exist.
    """

    def __init__(self, images: Array, table: Table | None, *, name: str, size: int | None = None) -> None:
        self.name = name
        self._images, self._channels_last = images, _channels_last(name, images)
        _check_values(name, images)
        height, width, channels = _height_width_channels(images, self._channels_last)
        if size is None and height != width:
            raise InputError(f"{name}: the images are {width}×{height}, not square: pass size= to make them so.")
        pixels = check_image_size(name, size or height)
        self.shape = (channels, pixels, pixels)
        self._table = table
        if table is not None and len(table) != len(images):
            raise InputError(f"{name}: there are {len(images):,} images and {len(table):,} rows of factors.")
        self.card = Card(
            title="one's own images",
            space=None if table is None else table.space,
            shape=self.shape,
            licence="yours",
            citation="yours",
            home=name,
        )
        if table is not None and table.space is not None:
            cells = table.space.index(table.codes)
            self._cells, self._rows = cells.sort(stable=True)
            self.stochastic = bool((self._cells.diff() == 0).any())

    @property
    def labels(self) -> Tensor | None:
        """The table (N, K): int64 values on the grid, or float64 where a factor is continuous."""
        return None if self._table is None else self._table.codes

    @property
    def space(self) -> FactorSpace:
        """The grid of the values that occur in the table."""
        if self._table is not None and self._table.space is None:
            raise InputError(f"{self.name}: {self._table.why_no_grid} This needs factors on a grid.")
        return super().space

    @property
    def can_intervene(self) -> bool:
        """Whether the table fills its grid."""
        return self.has_factors and len(torch.unique(self._cells)) == self.space.size

    @property
    def size(self) -> int:
        """How many images there are."""
        return len(self._images)

    def sample(self, n: int, generator: torch.Generator, **narrowing: Any) -> Batch:
        """Draw n of the images that exist, and their factors; with ``narrowing``, points of the grid."""
        if narrowing:
            return super().sample(n, generator, **narrowing)
        index = torch.randint(self.size, (n,), generator=generator)
        return Batch(self._read(index, generator), None if self.labels is None else self.labels[index])

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        cells = self.space.index(factors)
        first = torch.searchsorted(self._cells, cells)
        count = torch.searchsorted(self._cells, cells, right=True) - first
        if (count == 0).any():
            missing = factors[count == 0][0].tolist()
            point = ", ".join(f"{name} {value}" for name, value in zip(self.space.names, missing, strict=True))
            raise InputError(f"{self.name} has no image with {point}: its factors do not fill the grid.")
        if generator is not None:
            first = first + (torch.rand(len(count), generator=generator, dtype=torch.float64) * count).long()
        return self._read(self._rows[first], generator)

    def _read(self, index: Tensor, generator: torch.Generator | None) -> Tensor:
        images = np.asarray(self._images[index.numpy()])
        if images.ndim == 3:
            images = images[..., None]
        if self._channels_last:
            images = images.transpose(0, 3, 1, 2)
        if images.dtype != np.uint8:
            images = np.round(images * 255).astype(np.uint8)
        return resize(torch.from_numpy(np.ascontiguousarray(images)), self.shape[-1])


def load_own(
    source: str | Path | Array | Tensor,
    *,
    factors: str | Path | Array | Tensor | None = None,
    names: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    size: int | None = None,
) -> OwnImages:
    """Images of one's own: a folder of pictures, an .npy, .npz or .h5 file, an array or a tensor.

    ``factors`` is an (N, K) array or the path of a CSV file; a folder's ``factors.csv``, and an array called factors or
    labels in an .npz or .h5 file, are found by themselves. ``names`` and ``kinds`` describe the columns (a kind is
    "ordered", "cyclic" or "categorical"). ``size`` resizes.
    """
    name, pictures = "these images", None
    if isinstance(source, str | Path):
        name, path = str(source), Path(source).expanduser()
        if path.is_dir():
            pictures = picture_files(path)
            images = _read_pictures(pictures, size)
            found: Any = path / "factors.csv" if (path / "factors.csv").exists() else None
        else:
            images, found = _read_file(path)
    else:
        images, found = _to_array(source), None
    factors = found if factors is None else factors
    if isinstance(factors, str | Path):
        table: Table | None = read_csv(Path(factors), pictures, kinds)
    else:
        table = _table(factors, names, kinds)
    return OwnImages(images, table, name=name, size=size)


def picture_files(folder: Path) -> list[Path]:
    """The pictures in a folder, by name; an error where there is none."""
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}.")
    pictures = sorted(path for path in folder.iterdir() if path.suffix.lower() in PICTURES)
    if not pictures:
        raise InputError(f"the folder {folder} has no pictures ({', '.join(sorted(PICTURES))}).")
    return pictures


def _read_pictures(paths: list[Path], size: int | None) -> Array:
    rows: list[Array] = []
    for path in paths:
        try:
            with Image.open(path) as picture:
                grey = picture.mode in ("1", "L", "I", "I;16", "F", "LA")
                pixels = np.array(picture.convert("L" if grey else "RGB"))
        except (UnidentifiedImageError, OSError) as error:
            raise InputError(f"{path} cannot be read as a picture: it is damaged or of another format.") from error
        if size is not None:
            channels_first = torch.from_numpy(pixels.reshape(*pixels.shape[:2], -1)).permute(2, 0, 1)[None]
            pixels = resize(channels_first.contiguous(), size)[0].permute(1, 2, 0).numpy()
        rows.append(pixels.reshape(*pixels.shape[:2], -1))
        if rows[-1].shape[:2] != rows[0].shape[:2]:
            (h0, w0), (h1, w1) = rows[0].shape[:2], rows[-1].shape[:2]
            raise InputError(
                f"the pictures differ in size: {paths[0].name} is {w0}×{h0} and {path.name} is {w1}×{h1}. "
                "Pass size=64, say, to make them alike."
            )
    channels = max(row.shape[2] for row in rows)
    return np.stack([np.broadcast_to(row, (*row.shape[:2], channels)) for row in rows])


def _read_file(path: Path) -> tuple[Array, Array | None]:
    """Images and, where the file has them, factors."""
    if not path.exists():
        raise InputError(f"there is no file or folder {path}.")
    try:
        if path.suffix == ".npy":
            return np.load(path, mmap_mode="r", allow_pickle=False), None
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as archive:
                return _pick(path, {key: archive[key] for key in archive.files})
        if path.suffix in (".h5", ".hdf5"):
            h5py = extra("h5py", "hdf5")
            with h5py.File(path) as archive:
                return _pick(path, {key: item[()] for key, item in archive.items() if isinstance(item, h5py.Dataset)})
    except (ValueError, OSError, EOFError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} cannot be read: {error}") from error
    raise InputError(f"{path} is not a folder, nor an .npy, .npz, .h5 or .hdf5 file.")


def _pick(path: Path, arrays: dict[str, Array]) -> tuple[Array, Array | None]:
    named: list[str] = [key for key in ("images", "imgs", "x") if key in arrays]
    images = named or [key for key, array in arrays.items() if array.ndim >= 3]
    if len(images) != 1:
        raise InputError(f"{path}: call the array of images 'images'; it has {', '.join(arrays) or 'no arrays'}.")
    return arrays[images[0]], next((arrays[key] for key in FACTOR_KEYS if key in arrays), None)


def _to_array(source: Any) -> Array:
    return source.detach().cpu().numpy() if isinstance(source, Tensor) else np.asarray(source)


def _table(factors: Any, names: Sequence[str] | None, kinds: Mapping[str, str] | None) -> Table | None:
    if factors is None:
        if names or kinds:
            raise InputError("names and kinds describe factors, and there are none.")
        return None
    columns = _to_array(factors)
    if columns.ndim == 1:
        columns = columns[:, None]
    if columns.ndim != 2:
        raise InputError(f"factors must be (N, K), got shape {columns.shape}.")
    names = [f"factor{k}" for k in range(columns.shape[1])] if names is None else list(names)
    if len(names) != columns.shape[1] or len(set(names)) != len(names):
        raise InputError(f"{columns.shape[1]} columns of factors need as many different names, got {names}.")
    return Table.of(dict(zip(names, columns.T, strict=True)), kinds)


def _channels_last(name: str, images: Array) -> bool:
    if images.ndim not in (3, 4) or len(images) == 0:
        raise InputError(
            f"{name}: images must be (N, H, W), (N, H, W, C) or (N, C, H, W) with N > 0, got {images.shape}."
        )
    if images.ndim == 3:
        return True
    first, last = images.shape[1] in (1, 3), images.shape[3] in (1, 3)
    if first == last:
        raise InputError(
            f"{name}: cannot tell which axis of {images.shape} has the channels: one of 1 or 3, first or last."
        )
    return last


def _height_width_channels(images: Array, channels_last: bool) -> tuple[int, int, int]:
    if images.ndim == 3:
        return images.shape[1], images.shape[2], 1
    _, a, b, c = images.shape
    return (a, b, c) if channels_last else (b, c, a)


def _check_values(name: str, images: Array) -> None:
    if images.dtype == np.uint8:
        return
    if not np.issubdtype(images.dtype, np.floating):
        raise InputError(f"{name}: images must be uint8, or floats from 0 to 1, got {images.dtype}.")
    for start in range(0, len(images), 4096):
        block = images[start : start + 4096]
        if not np.isfinite(block).all():
            raise InputError(f"{name}: images have NaN or infinite pixels.")
        if block.min() < 0 or block.max() > 1:
            raise InputError(
                f"{name}: float images must lie between 0 and 1, got {block.min():.3g} to {block.max():.3g}."
            )
