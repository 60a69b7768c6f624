"""Random images of a given shape, to measure what a step of training costs without the data."""

from __future__ import annotations

import torch
from torch import Tensor

from unweave.data import Card, FactorData
from unweave.factors import FactorSpace

SPACE = FactorSpace.of(**{f"factor{number}": 4 for number in range(6)})


class Noise(FactorData):
    """Random images with random factors."""

    name = "noise"

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self.shape = shape
        self.card = Card("random images", SPACE, shape, "MIT", "none", "none")
        generator = torch.Generator().manual_seed(0)
        self._images = torch.randint(256, (256, *shape), dtype=torch.uint8, generator=generator)

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        return self._images[SPACE.index(factors) % len(self._images)]
