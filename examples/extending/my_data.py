"""A data set of your own that is drawn: images as a function of factors."""

import torch
from torch import Tensor

from unweave.data import Card, FactorData
from unweave.factors import FactorSpace


class Crosses(FactorData):
    """A horizontal and a vertical line, each at one of several places."""

    name = "crosses"
    version = "1"  # change it when the pixels change
    card = Card(
        title="two white lines on black",
        space=FactorSpace.of(row=12, column=12),
        shape=(1, 16, 16),
        licence="yours",
        citation="yours",
        home="here",
    )

    def __init__(self, *, brightness: int = 255) -> None:
        self.shape = (1, 16, 16)
        self._brightness = brightness

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        images = torch.zeros(len(factors), 1, 16, 16, dtype=torch.uint8)
        rows = torch.arange(len(factors))
        images[rows, 0, factors[:, 0] + 2] = self._brightness
        images[rows, 0, :, factors[:, 1] + 2] = self._brightness
        return images
