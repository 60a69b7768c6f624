"""One's own images: a folder, an array, a file, with a table of factors or without one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.data.arrays import DAMAGE, npz_shape
from unweave.data.factor_data import Batch, Card, FactorData, check_image_size
from unweave.data.pictures import picture_files, read_picture
from unweave.data.resize import resize
from unweave.data.tables import Table, read_csv, read_matrix
from unweave.errors import InputError, Unavailable, extra, whole
from unweave.factors import FactorSpace, Whole, check_generator

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
        pixels = check_image_size(name, height if size is None else size)
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
        if table is not None and table.space is not None and table.space.size <= 2**63:
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
        return self.has_factors and self.size >= self.space.size == len(torch.unique(self._cells))

    @property
    def size(self) -> int:
        """How many images there are."""
        return len(self._images)

    def exist(self, factors: Tensor) -> Tensor:
        """Which of the points (B, K) occur in the table."""
        return torch.isin(self.space.index(factors), self._cells)

    def rows(self, index: Whole, generator: torch.Generator | None = None) -> Tensor:
        """The images at these positions of the table, in which chance has no part."""
        return self._read(self._positions(index), generator)

    def sample(self, n: int, generator: torch.Generator, **narrowing: Any) -> Batch:
        """Draw n of the images that exist, and their factors; of ``narrowing`` only ``where`` is known here."""
        n, generator = whole("the number of images", n), check_generator(generator)
        rows = self._rows_where(**narrowing) if narrowing else torch.arange(self.size)
        index = rows[torch.randint(len(rows), (n,), generator=generator)]
        return Batch(self._read(index, generator), None if self.labels is None else self.labels[index])

    def _rows_where(self, where: Mapping[str, Any] | None = None, **others: Any) -> Tensor:
        if others:
            raise InputError(
                f"{self.name}: a table of one's own can be narrowed by where= only, not {sorted(others)[0]}=."
            )
        fits = torch.ones(self.size, dtype=torch.bool)
        for column, allowed in self.space.choices(where or {}, torch.device("cpu")).items():
            assert self.labels is not None
            fits &= torch.isin(self.labels[:, column], allowed)
        if not fits.any():
            raise InputError(f"{self.name} has no image with {where}.")
        return fits.nonzero()[:, 0]

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        cells = self.space.index(factors)  # a sentence where the grid has too many
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
    if size is not None:
        check_image_size("your own images", size)
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
    if isinstance(factors, str | Path) and Path(factors).suffix.lower() == ".npy":
        factors = read_matrix(Path(factors).expanduser())
    if isinstance(factors, str | Path):
        if names is not None:
            raise InputError(f"{factors} names its own columns: leave names= out.")
        table: Table | None = read_csv(Path(factors).expanduser(), pictures, kinds)
    else:
        table = _table(factors, names, kinds)
    return OwnImages(images, table, name=name, size=size)


def _read_pictures(paths: list[Path], size: int | None) -> Array:
    rows: list[Array] = []
    for path in paths:
        pixels = read_picture(path)
        if size is not None:
            channels_first = torch.from_numpy(pixels.copy()).permute(2, 0, 1)[None].contiguous()
            pixels = resize(channels_first, size)[0].permute(1, 2, 0).numpy()
        rows.append(pixels)
        if pixels.shape[:2] != rows[0].shape[:2]:
            (h0, w0), (h1, w1) = rows[0].shape[:2], pixels.shape[:2]
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
        match path.suffix.lower():
            case ".npy":
                return np.load(path, mmap_mode="r", allow_pickle=False), None
            case ".npz":
                with np.load(path, allow_pickle=False) as archive:
                    shapes = {key: npz_shape(path, key) for key in archive.files if _is_plain(path, key)}
                    images, factors = _pick(path, shapes)
                    return archive[images], None if factors is None else archive[factors]
            case ".h5" | ".hdf5":
                h5py = extra("h5py", "hdf5")
                with h5py.File(path) as archive:
                    shapes = {key: item.shape for key, item in archive.items() if isinstance(item, h5py.Dataset)}
                    images, factors = _pick(path, shapes)
                    return archive[images][()], None if factors is None else archive[factors][()]
    except InputError:
        raise
    except (OSError, *DAMAGE) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    raise InputError(f"{path} is not a folder, nor an .npy, .npz, .h5 or .hdf5 file.")


def _is_plain(path: Path, key: str) -> bool:
    """Whether an array of an .npz file holds numbers; a pickled one is none of ours to open."""
    try:
        return bool(npz_shape(path, key))
    except Unavailable:
        return False


def _pick(path: Path, shapes: dict[str, tuple[int, ...]]) -> tuple[str, str | None]:
    """The names of the arrays of images and of factors."""
    named: list[str] = [key for key in ("images", "imgs", "x") if key in shapes]
    images = named or [key for key, shape in shapes.items() if len(shape) >= 3]
    if len(images) != 1:
        raise InputError(f"{path}: call the array of images 'images'; it has {', '.join(shapes) or 'no arrays'}.")
    return images[0], next((key for key in FACTOR_KEYS if key in shapes), None)


def _to_array(source: Any) -> Array:
    """An array or a tensor, or what numpy makes of it."""
    try:
        if isinstance(source, Tensor):
            source = source.detach().cpu()
            return np.asarray((source.float() if source.dtype == torch.bfloat16 else source).numpy())
        return np.asarray(source)
    except (TypeError, ValueError, RuntimeError, NotImplementedError) as error:
        raise InputError(f"an array or a dense tensor with values is needed, got {type(source).__name__}.") from error


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
    words = all(isinstance(name, str) for name in names)
    if not words or len(names) != columns.shape[1] or len(set(names)) != len(names):
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
