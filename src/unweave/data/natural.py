"""Natural patches: small grey crops of photographs, whose factors nobody knows (Olshausen & Field 1996)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.data.factor_data import Card, FactorData, check_image_size
from unweave.data.files import RemoteFile, data_folder, verify
from unweave.data.pictures import picture_files, read_picture
from unweave.errors import InputError, Unavailable, whole

IMAGES = RemoteFile(
    "IMAGES.mat", "http://rctn.org/bruno/sparsenet/IMAGES.mat", checksum="git:18a1e3ab1363edeb6132e237dd84f6ea0a5c9cb2"
)


class Natural(FactorData):
    """Random square crops, their places drawn once from ``seed``: each picture alike, each place in it alike.

    The pictures are Olshausen and Field's ten (``IMAGES.mat``, whitened by its authors; its whole range is mapped to
    0 … 255, as in Rhodes and Lee 2021), or all that lie in ``folder``, as they are.
    """

    name = "natural"
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
        self, *, folder: str | Path | None = None, size: int = 16, crops: int = 100_000, seed: int = 0
    ) -> None:
        self.shape = (1, check_image_size(self.name, size), size)
        crops, seed = whole("natural: crops", crops, at_least=1), whole("natural: seed", seed, at_most=2**63 - 1)
        grey = [] if folder is None else [read_picture(path, "grey")[..., 0] for path in picture_files(folder)]
        pictures = grey or _olshausen()
        small = [picture.shape for picture in pictures if min(picture.shape) < size]
        if small:
            raise InputError(f"natural: a picture of {small[0][1]}×{small[0][0]} pixels has no crop of {size}×{size}.")
        generator = torch.Generator().manual_seed(seed)
        heights, widths = (torch.tensor([picture.shape[axis] for picture in pictures]) for axis in (0, 1))
        starts = torch.cumsum(heights * widths, 0) - heights * widths  # of each picture in the row of all pixels
        which = torch.randint(len(pictures), (crops,), generator=generator)
        top = (torch.rand(crops, generator=generator, dtype=torch.float64) * (heights[which] - size + 1)).long()
        left = (torch.rand(crops, generator=generator, dtype=torch.float64) * (widths[which] - size + 1)).long()
        self._pixels = torch.from_numpy(np.concatenate([picture.reshape(-1) for picture in pictures]))
        self._corner = starts[which] + top * widths[which] + left  # (crops,)
        self._width = widths[which]

    @property
    def size(self) -> int:
        """How many crops there are."""
        return len(self._corner)

    def _read(self, index: Tensor, generator: torch.Generator | None) -> Tensor:
        steps = torch.arange(self.shape[-1])
        rows = self._corner[index, None] + steps * self._width[index, None]  # (B, H)
        return self._pixels[rows[:, None, :, None] + steps]  # (B, 1, H, W)


def _olshausen() -> list[NDArray[np.uint8]]:
    from scipy.io import loadmat  # slow to import, and for this file only

    path = data_folder(Natural.name) / IMAGES.name
    if not path.exists():
        raise Unavailable(
            f"natural needs pictures: run `unweave data fetch natural`, put {IMAGES.name} into {path.parent}, or name "
            'a folder of your own, unweave.load("natural", folder="pictures/").'
        )
    verify(path, IMAGES)
    pictures = loadmat(path)["IMAGES"]  # (512, 512, 10)
    low, high = pictures.min(), pictures.max()
    scaled = np.round((pictures - low) / (high - low) * 255).astype(np.uint8)
    return list(np.moveaxis(scaled, -1, 0))
