"""OwnImages: the user's own images as a data set, with or without a table of factors."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.data.factor_data import Card, FactorData, Sample, check_image_size, digest
from unweave.data.files.factor_tables import Table
from unweave.data.files.pictures import BEFORE_FILTERS, Filter, over_black, resize
from unweave.errors import InputError, whole
from unweave.factors import FactorSpace, Whole, check_generator
from unweave.names import OWN

HASHED = 1 << 24  # bytes hashed at a time
Array = NDArray[Any]


class LabelTable(FactorData):
    """Rows of factors without images, which codes can belong to; ``table`` is None where the factors are not known."""

    finite_table = True
    loaded_as = OWN
    has_images = False
    shape = (1, 0, 0)

    def __init__(self, table: Table | None, rows: int, *, name: str) -> None:
        self.name, self._rows_count = name, rows if table is None else len(table)
        self._set_table(table)

    def _set_table(self, table: Table | None) -> None:
        self._table = table
        self.card = Card(
            title="your own images" if self.has_images else "your own factors",
            space=None if table is None else table.space,
            shape=self.shape,
            licence="yours",
            citation="yours",
            home=self.name,
        )

    def fingerprint(self) -> str:
        """Return a hash of the factors with their names and kinds."""
        return digest(f"{self.num_images} rows", *self._table_parts())

    def _table_parts(self) -> tuple[str | bytes, ...]:
        """Return what is hashed of the table."""
        if self._table is None:
            return ()
        declared = [name for name, kind in self._table.declared.items() if kind == "continuous"]
        kinds = list(self._table.space.kinds) if self._table.space else ["continuous", *self._table.words, *declared]
        described = f"{self._table.codes.dtype} {self._table.names} {kinds}"
        return described, self._table.codes.numpy().tobytes()

    @property
    def labels(self) -> Tensor | None:
        """The factors (N, K): int64 values on the grid, or float64 if one is continuous or has missing values."""
        return None if self._table is None else self._table.codes

    @property
    def factor_names(self) -> tuple[str, ...]:
        """The names of the columns of the table."""
        return () if self._table is None else self._table.names

    @property
    def table(self) -> Table | None:
        """The table of factors."""
        return self._table

    @property
    def space(self) -> FactorSpace:
        """The grid of the values that occur in the table."""
        if self._table is not None and self._table.space is None:
            raise InputError(f"{self.name}: {self._table.why_no_grid} This needs factors on a grid.")
        return super().space

    @property
    def can_intervene(self) -> bool:
        """Return whether every point of the grid has an image."""
        return False

    @property
    def num_images(self) -> int:
        """The number of rows."""
        return self._rows_count

    def __repr__(self) -> str:
        factors = "without factors" if self._table is None else f"with factors {self._table}"
        what = f"{self.num_images:,} {'images' if self.has_images else 'rows'}"
        shape = "×".join(map(str, self.shape)) if self.has_images else "no images"
        return "\n".join([f"<{self.name}: {what} {factors}; {shape}>", *self._told()])

    def _read(self, index: Tensor, generator: torch.Generator | None) -> Tensor:
        raise InputError(f"{self.name} has factors but no images: pass images= as well (--images on the command line).")


class OwnImages(LabelTable):
    """A finite table of images, with or without factors, one row per image.

    The grid consists of the values that occur. For a point that several images share, one of them is drawn at random; a
    point without an image is an error. :meth:`sample` draws rows of the table.

    Args:
        images: The images, uint8 or floats from 0 to 1, of shape (N, H, W), (N, H, W, C) or (N, C, H, W); four channels
            are RGBA, blended with black.
        table: The factors, one row per image; None if they are not known.
        name: The name of the data set.
        size: The height and width in pixels that images are resized to when they are read; None leaves them as they
            are.
        filter: The filter by which they are resized; None is what earlier versions did, see
            :func:`unweave.data.files.pictures.resize`.
        source: The path and options to load the images with again; None where an array in memory was given.
        notes: What was noticed while reading, one sentence each, which is shown with the set.

    Examples:
        >>> import numpy as np
        >>> import unweave
        >>> images = np.zeros((4, 16, 16, 3), dtype=np.uint8)
        >>> data = unweave.load(images, factors={"colour": ["red", "red", "blue", "blue"], "size": [1, 2, 1, 2]})
        >>> type(data).__name__, data.space.names, len(data.rows(range(4)))
        ('OwnImages', ('colour', 'size'), 4)
    """

    has_images = True
    newer = BEFORE_FILTERS

    def __init__(
        self,
        images: Array,
        table: Table | None,
        *,
        name: str,
        size: int | None = None,
        filter: Filter | None = "bilinear",
        source: dict[str, Any] | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.name, self._source, self._size, self._filter = name, source, size, filter
        self._images, self._channels_last = images, _channels_last(name, images)
        _check_values(name, images)
        height, width, channels = _height_width_channels(images, self._channels_last)
        if size is None:
            height, width = (check_image_size(name, pixels) for pixels in (height, width))
        else:
            height = width = check_image_size(name, size)
        self._has_alpha = channels == 4
        self.notes = (*notes, "four channels were read as RGBA and blended with black") if channels == 4 else notes
        self.shape = (3 if channels == 4 else channels, height, width)
        self._set_table(table)
        if table is not None and table.space is not None and table.space.has_positions:
            cells = table.space.index(table.codes)
            self._cells, self._rows = cells.sort(stable=True)
            self.stochastic = bool((self._cells.diff() == 0).any())

    @property
    def source(self) -> dict[str, Any] | None:
        """The path and options to load these images with; None where an array in memory was given."""
        return self._source

    def fingerprint(self) -> str:
        """Return a hash of all pixels, as they are read, and of the factors with their names and kinds."""
        total = hashlib.sha256()
        for part in torch.arange(self.num_images).split(max(1, HASHED // math.prod(self.shape))):
            total.update(self._read(part, None).numpy().data)
        return digest(total.digest(), *self._table_parts())

    @property
    def can_intervene(self) -> bool:
        """Return whether every point of the grid has an image."""
        return self.has_factors and self.num_images >= self.space.size == len(torch.unique(self._cells))

    @property
    def num_images(self) -> int:
        """The number of images."""
        return len(self._images)

    def exist(self, factors: Tensor) -> Tensor:
        """Return which of the points (B, K) have an image, (B,) booleans."""
        return torch.isin(self.space.index(factors), self._cells)

    def rows(self, index: Whole, generator: torch.Generator | None = None) -> Tensor:
        """Return the images at these rows of the table; deterministic."""
        return self._read(self._positions(index), generator)

    def sample(self, n: int, generator: torch.Generator, **narrowing: Any) -> Sample:
        """Draw n rows of the table with replacement; they can be restricted by ``where`` only."""
        n, generator = whole("the number of images", n), check_generator(generator)
        rows = self._rows_where(**narrowing) if narrowing else torch.arange(self.num_images)
        index = rows[torch.randint(len(rows), (n,), generator=generator)]
        return Sample(self._read(index, generator), None if self.labels is None else self.labels[index])

    def _rows_where(self, where: Mapping[str, Any] | None = None, **others: Any) -> Tensor:
        if others:
            raise InputError(
                f"{self.name}: a sample of your own images can be restricted by where= only, not {sorted(others)[0]}=."
            )
        fits = torch.ones(self.num_images, dtype=torch.bool)
        for column, allowed in self.space.choices(where or {}, torch.device("cpu")).items():
            assert self.labels is not None
            fits &= torch.isin(self.labels[:, column], allowed)
        if not fits.any():
            raise InputError(f"{self.name} has no image with {where}.")
        return fits.nonzero()[:, 0]

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        cells = self.space.index(factors)  # raises if the grid is too large
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
        if self._has_alpha:
            images = over_black(images.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
        pixels = torch.from_numpy(np.ascontiguousarray(images))
        return pixels if self._size is None else resize(pixels, self._size, self._filter)


def _channels_last(name: str, images: Array) -> bool:
    if images.ndim not in (3, 4) or len(images) == 0:
        raise InputError(
            f"{name}: images must be (N, H, W), (N, H, W, C) or (N, C, H, W) with N > 0, got {images.shape}."
        )
    if images.ndim == 3:
        return True
    for channels in ((1, 3), (4,)):  # 1 or 3 on either axis before RGBA, so that images 4 pixels high are recognised
        first, last = images.shape[1] in channels, images.shape[3] in channels
        if first != last:
            return last
        if first:
            break
    raise InputError(
        f"{name}: cannot tell which axis of {images.shape} has the channels: the first or the last must be 1, 3 or 4."
    )


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
                f"{name}: float images must be between 0 and 1, got {block.min():.3g} to {block.max():.3g}."
            )
