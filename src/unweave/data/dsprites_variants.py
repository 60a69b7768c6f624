"""dSprites in colour, on noise, on a painting (Locatello et al. 2019, app. D) and on pictures (Michlo et al. 2023)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping
from functools import cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from unweave.data.dsprites import CANVAS, DSprites, SpriteData
from unweave.data.factor_data import Card, digest
from unweave.data.files.pictures import Filter, picture_files, read_picture, resize
from unweave.errors import InputError, unknown, whole

CITATION = (
    "Locatello et al., Challenging Common Assumptions in the Unsupervised Learning of Disentangled Representations, "
    "ICML 2019; after Matthey et al., dSprites, 2017"
)
Where = Literal["background", "sprite"]
MIXERS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # of the hash splitmix64


def _card(title: str) -> Card:
    return Card(
        title=title,
        space=DSprites.card.space,
        shape=(3, CANVAS, CANVAS),
        licence="Apache-2.0",
        citation=CITATION,
        home="https://github.com/google-research/disentanglement_lib",
    )


class _PaintedSprites(SpriteData):
    """dSprites, painted at random at 64 × 64 and then resized."""

    stochastic = True

    def __init__(self, *, size: int = CANVAS, filter: Filter | None = None, orientation: int | None = None) -> None:
        super().__init__(size=size, filter=filter, orientation=orientation)
        self._sprites = DSprites(orientation=orientation)

    @classmethod
    def state(cls, options: Mapping[str, Any]) -> Hashable:
        """Return whether the sprites are official or drawn."""
        return DSprites.state({})

    def prepare(self) -> None:
        """Convert or draw the sprites, once."""
        self._sprites.prepare()

    def fingerprint(self) -> str:
        """Return the version of the painting and the origin of the sprites."""
        return f"v{self.version}-{self._sprites.fingerprint()}"

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        assert generator is not None
        sprites = self._sprites.images(factors)  # (B, 1, 64, 64), 0 or 255
        return resize(self._paint(sprites, generator), self.shape[-1], self._filter)

    @abstractmethod
    def _paint(self, sprites: Tensor, generator: torch.Generator) -> Tensor:
        """Paint sprites (B, 1, 64, 64) uint8 0 or 255 as images (B, 3, 64, 64) uint8."""


class ColorDSprites(_PaintedSprites):
    """Each sprite in a random colour, every channel uniform on [0.5, 1]."""

    name = "color_dsprites"
    card = _card("dSprites with the sprite in a random colour")

    def _paint(self, sprites: Tensor, generator: torch.Generator) -> Tensor:
        colour = 0.5 + 0.5 * torch.rand(len(sprites), 3, 1, 1, generator=generator)
        return torch.where(sprites > 0, _to_bytes(colour), sprites)


class NoisyDSprites(_PaintedSprites):
    """White sprites on a background of uniform noise, independent in every pixel and channel."""

    name = "noisy_dsprites"
    card = _card("dSprites with uniform noise behind the sprite")

    def _paint(self, sprites: Tensor, generator: torch.Generator) -> Tensor:
        # eight pixels per random number, which is eight times as fast
        words = torch.randint(-(2**63), 2**63 - 1, (len(sprites), 3, CANVAS, CANVAS // 8), generator=generator)
        return words.view(torch.uint8) | sprites


class ScreamDSprites(_PaintedSprites):
    """Sprites that invert the colours of a random patch of Munch's painting, itself shifted in colour."""

    name = "scream_dsprites"
    card = _card("dSprites as a negative of a random patch of The Scream")

    @cached_property
    def _patches(self) -> Tensor:
        """Every patch of the painting as a view, (3, H − 63, W − 63, 64, 64)."""
        with files("unweave.data").joinpath("the_scream.jpg").open("rb") as stream, Image.open(stream) as painting:
            painting.thumbnail((350, 274))  # as in disentanglement_lib
            pixels = torch.from_numpy(np.array(painting.convert("RGB"))).permute(2, 0, 1).contiguous()
        return pixels.unfold(1, CANVAS, 1).unfold(2, CANVAS, 1)

    def _paint(self, sprites: Tensor, generator: torch.Generator) -> Tensor:
        tops, lefts = self._patches.shape[1:3]
        top = torch.randint(tops, (len(sprites),), generator=generator)
        left = torch.randint(lefts, (len(sprites),), generator=generator)
        shift = torch.rand(len(sprites), 3, 1, 1, generator=generator) * 255
        patch = self._patches[:, top, left].transpose(0, 1).contiguous()  # (B, 3, 64, 64)
        background = ((patch + shift) / 2).round().byte()
        return background ^ sprites  # 255 − b where the sprite is 255, b where it is 0


def _to_bytes(intensity: Tensor) -> Tensor:
    return (intensity * 255).round().byte()


class DSpritesPictures(SpriteData):
    """White sprites before a picture, or sprites that are cut out of one (``where="sprite"``).

    Every image has its own 64 × 64 patch, chosen once from ``seed``, so that the images are a function of the factors.
    Disent resizes Tiny ImageNet to 64 × 64, which a folder of such pictures reproduces.

    Args:
        folder: The pictures that patches come from; by default Munch's painting.
        where: Whether the picture is behind the sprite, or in it.
        visibility: Fades a background to black, and the picture in a sprite to white; with 0 the images are dSprites in
            three channels.
        size: The height and width of the images.
        filter: How they are resized.
        orientation: The one orientation that sprites have; by default all of them.
        seed: The seed of the patches.
    """

    name = "dsprites_pictures"
    places = ("folder",)
    card = Card(
        title="dSprites before pictures, or cut out of pictures",
        space=DSprites.card.space,
        shape=(3, CANVAS, CANVAS),
        licence="Apache-2.0; your own pictures",
        citation="Michlo, Klein and James, Overlooked Implications of the Reconstruction Loss for VAE Disentanglement, "
        "IJCAI 2023 (the framework Disent); after Matthey et al., dSprites, 2017",
        home="https://github.com/nmichlo/disent",
    )

    def __init__(
        self,
        *,
        folder: str | Path | None = None,
        where: Where = "background",
        visibility: float = 1.0,
        size: int = CANVAS,
        filter: Filter | None = None,
        orientation: int | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(size=size, filter=filter, orientation=orientation)
        if where not in get_args(Where):
            raise unknown("where", str(where), get_args(Where))
        if isinstance(visibility, bool) or not isinstance(visibility, int | float) or not 0 <= visibility <= 1:
            raise InputError(f"dsprites_pictures: visibility must be between 0 and 1, got {visibility!r}.")
        if folder is not None and not isinstance(folder, str | Path):
            raise InputError(f"dsprites_pictures: folder must be a path, got {folder!r}.")
        self._folder = None if folder is None else Path(folder).expanduser().absolute()
        self._where, self._visibility = where, float(visibility)
        self._seed = whole("dsprites_pictures: seed", seed, at_most=2**63 - 1)
        self._sprites = DSprites()

    @classmethod
    def state(cls, options: Mapping[str, Any]) -> Hashable:
        """Return the origin of the sprites, and the names, sizes and times of the pictures."""
        folder = options.get("folder")
        paths = [] if folder is None else picture_files(folder)
        return DSprites.state({}), *((path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in paths)

    def prepare(self) -> None:
        """Convert or draw the sprites, and read the pictures."""
        self._sprites.prepare()
        _ = self._pictures

    def fingerprint(self) -> str:
        """Return this version, the origin of the sprites, and a hash of the pictures in ``folder``."""
        own = "" if self._folder is None else "-" + digest(*(part.numpy().tobytes() for part in self._pictures))
        return f"v{self.version}-{self._sprites.fingerprint()}{own}"

    @property
    def source(self) -> dict[str, Any] | None:
        """The folder of pictures, if one was given."""
        folder = self._folder
        return None if folder is None else {"path": str(folder), "options": {"folder": str(folder)}}

    @cached_property
    def _pictures(self) -> list[Tensor]:
        """The pictures (3, H, W) uint8."""
        if self._folder is None:
            with as_file(files("unweave.data").joinpath("the_scream.jpg")) as path:
                return [_in_colour(path)]
        pictures = [_in_colour(path) for path in picture_files(self._folder)]
        if any(min(picture.shape[1:]) < CANVAS for picture in pictures):
            raise InputError(f"dsprites_pictures: pictures must have at least {CANVAS} × {CANVAS} pixels.")
        return pictures

    def _read(self, index: Tensor, generator: torch.Generator | None) -> Tensor:
        index = self._among_all(index)
        sprites = self._sprites.rows(index).expand(-1, 3, -1, -1) > 0  # (B, 3, 64, 64)
        patches = self._patches(index).float() * self._visibility
        if self._where == "background":
            painted = patches.byte().masked_fill(sprites, 255)
        else:
            painted = (patches + 255 * (1 - self._visibility)).byte().masked_fill(~sprites, 0)
        return resize(painted, self.shape[-1], self._filter)

    def _patches(self, index: Tensor) -> Tensor:
        """Return the patch (B, 3, 64, 64) of each position (B,)."""
        which = _hashed(index, self._seed, 0) % len(self._pictures)
        patches = torch.empty(len(index), 3, CANVAS, CANVAS, dtype=torch.uint8)
        for number in which.unique().tolist():
            rows = (which == number).nonzero()[:, 0]
            windows = self._pictures[number].unfold(1, CANVAS, 1).unfold(2, CANVAS, 1)  # (3, tops, lefts, 64, 64)
            top = _hashed(index[rows], self._seed, 1) % windows.shape[1]
            left = _hashed(index[rows], self._seed, 2) % windows.shape[2]
            patches[rows] = windows[:, top, left].transpose(0, 1)
        return patches


def _in_colour(path: Path) -> Tensor:
    pixels = torch.from_numpy(read_picture(path).copy()).permute(2, 0, 1)  # (C, H, W)
    return pixels.expand(3, -1, -1).contiguous()


def _hashed(index: Tensor, seed: int, purpose: int) -> Tensor:
    """Hash positions to 31 bits that do not depend on the order in which images are asked for (splitmix64)."""
    step, first, second = MIXERS
    bits = index + _signed((3 * seed + purpose + 1) * step)  # int64 wraps around
    for shift, mixer in ((30, first), (27, second)):
        bits = (bits ^ ((bits >> shift) & (2 ** (64 - shift) - 1))) * _signed(mixer)
    return (bits ^ ((bits >> 31) & (2**33 - 1))) & (2**31 - 1)


def _signed(number: int) -> int:
    """Return the lowest 64 bits of a number as int64 has them."""
    return (number + 2**63) % 2**64 - 2**63
