"""Natural patches: small grey crops of photographs, without known factors (Olshausen & Field 1996)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.data.factor_data import Card, FactorData, check_image_size, digest
from unweave.data.files import data_folder
from unweave.data.files.downloads import RemoteFile, verify
from unweave.data.files.pictures import picture_files, read_picture
from unweave.errors import InputError, Unavailable, whole

IMAGES = RemoteFile(
    "IMAGES.mat", "http://rctn.org/bruno/sparsenet/IMAGES.mat", checksum="git:18a1e3ab1363edeb6132e237dd84f6ea0a5c9cb2"
)


class Natural(FactorData):
    """Random square crops, with positions drawn once from ``seed``: a uniform picture, then a uniform position in it.

    The pictures are the ten of Olshausen and Field (``IMAGES.mat``, whitened by its authors; its range is mapped to
    0 … 255, as in Rhodes and Lee 2021), or your own.

    Args:
        folder: A folder of pictures, which are used instead.
        whiten: Whether the pictures of the folder are filtered and mapped in the same way.
        clip: Map that many standard deviations on each side of the mean to 0 … 255 instead of the extremes, and clip
            what is beyond. A few extreme pixels otherwise leave whitened pictures with a standard deviation of about
            0.05 of the range, from which nets learn little; with 3.5 it is 0.14.
        size: The height and width of a crop.
        crops: The number of crops.
        seed: The seed of their positions.
    """

    name = "natural"
    places = ("folder",)
    newer = MappingProxyType({"clip": None})
    card = Card(
        title="small grey crops of natural images, without factors",
        space=None,
        shape=(1, 16, 16),
        licence="none stated",
        citation="Olshausen and Field, Emergence of simple-cell receptive field properties by learning a sparse code "
        "for natural images, Nature 1996",
        home="http://www.rctn.org/bruno/sparsenet/",
        files=(IMAGES,),
    )

    def __init__(
        self,
        *,
        folder: str | Path | None = None,
        whiten: bool = False,
        clip: float | None = None,
        size: int = 16,
        crops: int = 100_000,
        seed: int = 0,
    ) -> None:
        self.shape = (1, check_image_size(self.name, size), size)
        self._crops = whole("natural: crops", crops, at_least=1)
        self._seed = whole("natural: seed", seed, at_most=2**63 - 1)
        if folder is not None and not isinstance(folder, str | Path):
            raise InputError(f"natural: folder must be a path, got {folder!r}.")
        if whiten and folder is None:
            raise InputError("natural: whiten is for the pictures in a folder; IMAGES.mat is whitened by its authors.")
        if clip is not None and not (isinstance(clip, int | float) and 0 < clip < float("inf")):
            raise InputError(f"natural: clip must be a positive number of standard deviations, got {clip!r}.")
        if clip is not None and folder is not None and not whiten:
            raise InputError("natural: clip is for whitened pictures; set whiten=True as well.")
        self._folder = None if folder is None else Path(folder).expanduser().absolute()
        self._whiten, self._clip = whiten, clip

    @classmethod
    def state(cls, options: Mapping[str, Any]) -> Hashable:
        """Return the names, sizes and times of the pictures in ``folder``."""
        if (folder := options.get("folder")) is None:
            return None
        files = [(path.name, path.stat()) for path in picture_files(folder)]
        return Path.cwd(), *((name, stat.st_size, stat.st_mtime_ns) for name, stat in files)

    def prepare(self) -> None:
        """Read the pictures and draw the positions of the crops."""
        _ = self._places

    def fingerprint(self) -> str:
        """Return the published checksum, or a hash of the pixels of the pictures in ``folder``."""
        if self._folder is None:
            return f"v{self.version}-{digest(str(IMAGES.checksum))}"
        content = [part for picture in self._pictures for part in (str(picture.shape), picture.tobytes())]
        return f"v{self.version}-{digest(*content)}"

    @property
    def source(self) -> dict[str, Any] | None:
        """The folder of pictures, if one was given."""
        folder = self._folder
        return None if folder is None else {"path": str(folder), "options": {"folder": str(folder)}}

    @cached_property
    def _pictures(self) -> list[NDArray[np.uint8]]:
        """The pictures (H, W), grey."""
        if self._folder is None:
            return _olshausen(self._clip)
        pictures = [read_picture(path, "grey")[..., 0] for path in picture_files(self._folder)]
        return _stretched([whitened(picture) for picture in pictures], self._clip) if self._whiten else pictures

    @cached_property
    def _pixels(self) -> Tensor:
        """The pixels of all pictures in one row."""
        return torch.from_numpy(np.concatenate([picture.reshape(-1) for picture in self._pictures]))

    @cached_property
    def _places(self) -> tuple[Tensor, Tensor]:
        """The first pixel (crops,) of each crop in the row of all pixels, and the width (crops,) of its picture."""
        size, crops = self.shape[-1], self._crops
        small = [picture.shape for picture in self._pictures if min(picture.shape) < size]
        if small:
            raise InputError(
                f"natural: a picture of {small[0][1]}×{small[0][0]} pixels is smaller than a crop of {size}×{size}. "
                "Leave it out, or choose a smaller size."
            )
        generator = torch.Generator().manual_seed(self._seed)
        heights, widths = (torch.tensor([picture.shape[axis] for picture in self._pictures]) for axis in (0, 1))
        starts = torch.cumsum(heights * widths, 0) - heights * widths  # first pixel of each picture
        which = torch.randint(len(heights), (crops,), generator=generator)
        top = (torch.rand(crops, generator=generator, dtype=torch.float64) * (heights[which] - size + 1)).long()
        left = (torch.rand(crops, generator=generator, dtype=torch.float64) * (widths[which] - size + 1)).long()
        return starts[which] + top * widths[which] + left, widths[which]

    @property
    def num_images(self) -> int:
        """The number of crops."""
        return self._crops

    def _read(self, index: Tensor, generator: torch.Generator | None) -> Tensor:
        steps = torch.arange(self.shape[-1])
        corner, width = self._places
        rows = corner[index, None] + steps * width[index, None]  # (B, H)
        return self._pixels[rows[:, None, :, None] + steps]  # (B, 1, H, W)


def _olshausen(clip: float | None) -> list[NDArray[np.uint8]]:
    from scipy.io import loadmat  # slow to import, and needed here only

    path = data_folder(Natural.name) / IMAGES.name
    if not path.exists():
        raise Unavailable(
            f"natural needs pictures: run `unweave data fetch natural`, put {IMAGES.name} into {path.parent}, or use "
            'a folder of your own, unweave.load("natural", folder="pictures/").'
        )
    verify(path, IMAGES)
    return _stretched(list(np.moveaxis(loadmat(path)["IMAGES"], -1, 0)), clip)  # (512, 512, 10)


def whitened(picture: NDArray[np.uint8 | np.float64]) -> NDArray[np.float64]:
    """Return a picture (H, W) with a flat spectrum up to a cut, and variance 1 (Olshausen & Field 1997, sec. 4).

    The filter is f · exp(−(f / f₀)⁴) with f₀ = 200 cycles per 512 pixels. A picture without contrast stays 0.
    """
    height, width = picture.shape
    frequency = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width))  # cycles per pixel
    spectrum = np.fft.rfft2(picture / 255.0) * frequency * np.exp(-((frequency * 512 / 200) ** 4))
    filtered: NDArray[np.float64] = np.fft.irfft2(spectrum, s=picture.shape)
    return filtered / max(float(filtered.std()), 1e-12)


def _stretched(pictures: list[NDArray[np.float64]], clip: float | None) -> list[NDArray[np.uint8]]:
    """Return the pictures with their common range, or ``clip`` standard deviations around their mean, as 0 … 255."""
    low, high = min(each.min() for each in pictures), max(each.max() for each in pictures)
    if clip is not None:
        pixels = np.concatenate([each.reshape(-1) for each in pictures])
        low, high = pixels.mean() - clip * pixels.std(), pixels.mean() + clip * pixels.std()
    scaled = [(each - low) / max(high - low, 1e-12) for each in pictures]
    return [np.round(each.clip(0, 1) * 255).astype(np.uint8) for each in scaled]
