"""dSprites in colour, on noise and on a painting: images that chance shares in (Locatello et al. 2019, app. D)."""

from __future__ import annotations

from abc import abstractmethod
from importlib.resources import files

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from unweave.data.dsprites import CANVAS, DSprites
from unweave.data.factor_data import Card, FactorData, check_image_size
from unweave.data.resize import resize

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
    """dSprites under a random treatment at 64 × 64, resized afterwards."""

    stochastic = True

    def __init__(self, *, size: int = CANVAS) -> None:
        """``size`` other than 64 resizes each batch."""
        self.shape = (3, check_image_size(self.name, size), size)
        self._sprites = DSprites()

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        assert generator is not None
        sprites = self._sprites.images(factors)  # (B, 1, 64, 64), 0 or 255
        return resize(self._paint(sprites, generator), self.shape[-1])

    @abstractmethod
    def _paint(self, sprites: Tensor, generator: torch.Generator) -> Tensor:
        """Sprites (B, 1, 64, 64) uint8 0 or 255 as painted images (B, 3, 64, 64) uint8."""


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
        # eight pixels a draw: drawing them one by one takes eight times as long
        words = torch.randint(-(2**63), 2**63 - 1, (len(sprites), 3, CANVAS, CANVAS // 8), generator=generator)
        return words.view(torch.uint8) | sprites


class ScreamDSprites(_PaintedSprites):
    """Sprites that invert the colours of a random patch of Munch's painting, itself shifted in colour."""

    name = "scream_dsprites"
    card = _card("dSprites as a negative of a random patch of The Scream")

    def __init__(self, *, size: int = CANVAS) -> None:
        super().__init__(size=size)
        with files("unweave.data").joinpath("the_scream.jpg").open("rb") as stream, Image.open(stream) as painting:
            painting.thumbnail((350, 274))  # the reduction of disentanglement_lib
            pixels = torch.from_numpy(np.array(painting.convert("RGB"))).permute(2, 0, 1).contiguous()
        # (3, H − 63, W − 63, 64, 64): every patch as a view
        self._patches = pixels.unfold(1, CANVAS, 1).unfold(2, CANVAS, 1)

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
