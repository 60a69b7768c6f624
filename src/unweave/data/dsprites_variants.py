"""dSprites in colour, on noise and on a painting, drawn at random (Locatello et al. 2019, app. D)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping
from functools import cached_property
from importlib.resources import files
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from unweave.data.dsprites import CANVAS, DSprites
from unweave.data.files.resize import BEFORE_FILTERS, Filter, check_filter, named_filter, resize
from unweave.data.interface.factor_data import Card, FactorData, check_image_size

CITATION = (
    "Locatello et al., Challenging Common Assumptions in the Unsupervised Learning of Disentangled Representations, "
    "ICML 2019; after Matthey et al., dSprites, 2017"
)


def _card(title: str) -> Card:
    return Card(
        title=title,
        space=DSprites.card.space,
        shape=(3, CANVAS, CANVAS),
        licence="Apache-2.0",
        citation=CITATION,
        home="https://github.com/google-research/disentanglement_lib",
    )


class _PaintedSprites(FactorData):
    """dSprites, painted at random at 64 × 64 and then resized."""

    stochastic = True
    newer = BEFORE_FILTERS

    def __init__(self, *, size: int = CANVAS, filter: Filter | None = None) -> None:
        """``size`` other than 64 resizes each batch, by default to means of blocks where these fit."""
        self.shape = (3, check_image_size(self.name, size), size)
        self._filter = check_filter(self.name, filter)
        self.resolved = {"filter": named_filter(self._filter, CANVAS, size)}
        self._sprites = DSprites()

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
