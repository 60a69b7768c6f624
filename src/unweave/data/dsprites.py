"""dSprites: a white square, ellipse or heart in every scale, orientation and position (Matthey et al. 2017).

The program that drew the official images was never published. This file draws the geometry recovered from them; of
56,080 official images it reproduces 56,072 exactly, and the others differ in one pixel.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from functools import cache, cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.data._geometry import fill, snap
from unweave.data.factor_data import Card, FactorData, check_image_size
from unweave.data.files import data_folder
from unweave.data.files.arrays import Bytes, cached_array, npz_rows, npz_shape
from unweave.data.files.downloads import RemoteFile, verify
from unweave.data.files.pictures import BEFORE_FILTERS, Filter, check_filter, named_filter, resize
from unweave.errors import Unavailable, extra, whole
from unweave.factors import Categorical, Cyclic, FactorSpace
from unweave.progress import progress

CANVAS = 64  # width and height in pixels
CHUNK = 8192  # images drawn or read at a time
ORIENTATIONS = 40
SPACE = FactorSpace.of(shape=Categorical(3), scale=6, orientation=Cyclic(ORIENTATIONS), x=32, y=32)
UPRIGHT = FactorSpace.of(shape=Categorical(3), scale=6, x=32, y=32)  # of sprites that have one orientation
NPZ = RemoteFile(
    "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz",
    "https://github.com/deepmind/dsprites-dataset/raw/master/dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz",
    checksum="md5:7da33b31b13a06f4b04a70402ce90c2e",
    about="about 26 MB",
)
HDF5 = RemoteFile(
    "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.hdf5",
    "https://github.com/deepmind/dsprites-dataset/raw/master/dsprites_ndarray_co1sh3sc6or40x32y32_64x64.hdf5",
    size=28_024_106,
    checksum="sha256:729fa22e884c9c500e1f17415d580746b4c5894fbbb780a1319bbcfa39a745bb",
)


class SpriteData(FactorData):
    """The options of dSprites and its variants: the size, its filter, and an orientation that all sprites have."""

    newer = MappingProxyType({**BEFORE_FILTERS, "orientation": None})

    def __init__(self, *, size: int = CANVAS, filter: Filter | None = None, orientation: int | None = None) -> None:
        """Check the options.

        Args:
            size: Width and height; other than 64 resizes each batch.
            filter: How images are resized; by default to means of blocks where these fit.
            orientation: One of 0 to 39, which every sprite then has: the orientation is no factor.
        """
        self.shape = (self.card.shape[0], check_image_size(self.name, size), size)
        self._filter = check_filter(self.name, filter)
        self.resolved = {"filter": named_filter(self._filter, CANVAS, size)}
        if orientation is not None:
            whole(f"{self.name}: orientation", orientation, at_most=ORIENTATIONS - 1)
        self._orientation = orientation

    @property
    def space(self) -> FactorSpace:
        """The grid of factors, without the orientation if all sprites have the same."""
        return SPACE if self._orientation is None else UPRIGHT

    def _among_all(self, index: Tensor) -> Tensor:
        """Return the positions (B,) in the whole grid of positions in :attr:`space`."""
        if self._orientation is None:
            return index
        shape, scale, x, y = UPRIGHT.at(index).unbind(-1)  # (B,)
        return SPACE.index(torch.stack([shape, scale, torch.full_like(shape, self._orientation), x, y], dim=-1))


class DSprites(SpriteData):
    """All 737,280 sprites, stored as bits: read from the official file if it is present, else drawn once.

    Orientation is a full turn including both ends, so that 0 and 39 are the same image.
    """

    name = "dsprites"
    card = Card(
        title="white sprites on black: three shapes in every scale, orientation and position",
        space=SPACE,
        shape=(1, CANVAS, CANVAS),
        licence="Apache-2.0",
        citation="Matthey, Higgins, Hassabis and Lerchner, dSprites: Disentanglement testing sprites dataset, 2017",
        home="https://github.com/google-deepmind/dsprites-dataset",
        files=(NPZ,),
    )

    def __init__(self, *, size: int = CANVAS, filter: Filter | None = None, orientation: int | None = None) -> None:
        super().__init__(size=size, filter=filter, orientation=orientation)
        self.origin = self.state({})

    @classmethod
    def state(cls, options: Mapping[str, Any]) -> Literal["official", "drawn"]:
        """Return "official" if the official file, or the array converted from it, is present, else "drawn"."""
        folder = str(data_folder(DSprites.name))
        try:
            return _origin(folder, os.stat(folder).st_mtime_ns)  # noqa: PTH116  a third of the time of Path.stat
        except OSError:
            return "drawn"

    def prepare(self) -> None:
        """Convert the official file or draw the grid, once."""
        _ = self._bits

    def fingerprint(self) -> str:
        """Return the origin, because 8 of 56,080 official images differ by a pixel from the drawn ones."""
        return f"{self.origin}-v{self.version}"

    @cached_property
    def _bits(self) -> Bytes:
        folder = data_folder(self.name)
        source = next((file for file in (NPZ, HDF5) if (folder / file.name).exists()), NPZ)
        make = _draw_grid if self.origin == "drawn" else partial(_read_official, folder / source.name, source)
        path = folder / f"{self.origin}-v{self.version}-bits.npy"
        return cached_array(path, (SPACE.size, CANVAS * CANVAS // 8), make)

    def _read(self, index: Tensor, generator: torch.Generator | None) -> Tensor:
        lit = np.unpackbits(self._bits[self._among_all(index).numpy()], axis=-1)
        images = torch.from_numpy(lit).view(-1, 1, CANVAS, CANVAS).mul_(255)
        return resize(images, self.shape[-1], self._filter)


@cache
def _origin(folder: str, changed: int) -> Literal["official", "drawn"]:
    """Look into the folder; the result is cached until its modification time ``changed`` differs."""
    files = (f"official-v{DSprites.version}-bits.npy", NPZ.name, HDF5.name)
    return "official" if any(Path(folder, file).exists() for file in files) else "drawn"


def draw_sprites(factors: Tensor) -> Tensor:
    """Draw the sprites of points ``factors`` (B, 5) as uint8 0 or 1 (B, 64, 64)."""
    images = torch.empty(len(factors), CANVAS, CANVAS, dtype=torch.uint8)
    shape, scale, orientation, x, y = factors.unbind(-1)  # (B,)
    h = 9.6 * torch.linspace(0.5, 1, 6, dtype=torch.float64)[scale]
    angle = -torch.linspace(0, 2 * math.pi, 40, dtype=torch.float64)[orientation]
    place = 16 + 32 * torch.linspace(0, 1, 32, dtype=torch.float64)
    # single precision from here on, as in the original, because it decides how a vertex is rounded
    cos, sin = (h * angle.cos()).float(), (h * angle.sin()).float()
    cx, cy = place[x].float(), place[y].float()
    for kind, (u, v) in enumerate(_outlines()):
        of_kind = (shape == kind).nonzero()[:, 0]
        c, s, x0, y0 = (value[of_kind, None] for value in (cos, sin, cx, cy))  # (B', 1)
        vertices = torch.stack([c * u - s * v + x0, s * u + c * v + y0], dim=-1)  # (B', V, 2)
        images[of_kind] = fill(snap(vertices), CANVAS)
    return images


@cache
def _outlines() -> tuple[tuple[Tensor, Tensor], ...]:
    """Return the vertices (u, v) of the three shapes for h = 1; v points down."""
    t = torch.arange(100, dtype=torch.float64) * (2 * math.pi / 100)
    ellipse = 1.33 * t.cos(), t.sin() / 1.33
    t = torch.arange(150, dtype=torch.float64) * (2 * math.pi / 150)
    profile = 13 * t.cos() - 5 * (2 * t).cos() - 2 * (3 * t).cos() - (4 * t).cos()
    heart = t.sin() ** 3, -(profile / 14.5 + 0.15)
    square = torch.tensor([-1.0, 1.0, 1.0, -1.0]), torch.tensor([-1.0, -1.0, 1.0, 1.0])
    return tuple((u.float(), v.float()) for u, v in (square, ellipse, heart))


def _draw_grid(bits: Bytes) -> None:
    with progress("drawing dsprites, once", len(bits)) as advance:
        for start in range(0, len(bits), CHUNK):
            index = torch.arange(start, min(start + CHUNK, len(bits)))
            _pack(bits, slice(start, start + len(index)), draw_sprites(SPACE.at(index)).numpy())
            advance(len(index))


def _read_official(path: Path, file: RemoteFile, bits: Bytes) -> None:
    verify(path, file)
    with progress("converting dsprites", len(bits)) as advance:
        if file is NPZ:
            _check_shape(path, npz_shape(path, "imgs"), len(bits))
            for rows, images in npz_rows(path, "imgs", CHUNK):
                _pack(bits, rows, images)
                advance(len(images))
        else:
            with extra("h5py", "hdf5").File(path) as archive:
                _check_shape(path, archive["imgs"].shape, len(bits))
                for start in range(0, len(bits), CHUNK):
                    images = archive["imgs"][start : start + CHUNK]
                    _pack(bits, slice(start, start + len(images)), images)
                    advance(len(images))


def _check_shape(path: Path, shape: tuple[int, ...], images: int) -> None:
    if shape != (images, CANVAS, CANVAS):
        raise Unavailable(f"{path} does not have the {images:,} images of dSprites: delete it and fetch it again.")


def _pack(bits: Bytes, rows: slice, images: NDArray[Any]) -> None:
    bits[rows] = np.packbits(images.reshape(len(images), -1), axis=-1)
