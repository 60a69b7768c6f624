"""Three dots: identical black discs at any positions on white (Rhodes & Lee 2021)."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from unweave.data.interface.factor_data import Card, FactorData, check_image_size
from unweave.factors import FactorSpace

PLACES = 64  # values of each coordinate
RADIUS = 0.08  # as a fraction of the width


class ThreeDots(FactorData):
    """Dots centred at x·W/63, y·W/63, from edge to edge of the image; they may overlap and cross the edge.

    The dots are identical, so that six permutations of the factors give the same image. Edges are smoothed by a linear
    ramp over one pixel, within 0.07 of the exact coverage of each pixel.
    """

    name = "three_dots"
    card = Card(
        title="three black dots at any positions on white",
        space=FactorSpace.of(x0=PLACES, y0=PLACES, x1=PLACES, y1=PLACES, x2=PLACES, y2=PLACES),
        shape=(1, 64, 64),
        licence="MIT (drawn here)",
        citation="Rhodes and Lee, Local Disentanglement in Variational Auto-Encoders Using Jacobian L1 Regularization, "
        "NeurIPS 2021; after Zhao et al., Bias and Generalization in Deep Generative Models, NeurIPS 2018",
        home="https://github.com/travers-rhodes/jlonevae",
    )

    def __init__(self, *, size: int = 64) -> None:
        self.shape = (1, check_image_size(self.name, size), size)

    @cached_property
    def _squared(self) -> Tensor:
        """The squared distance of each place from each pixel along one axis (places, W)."""
        size = self.shape[-1]
        centers = torch.arange(PLACES) * (size / (PLACES - 1))  # in pixels
        pixels = torch.arange(size) + 0.5
        return (pixels - centers[:, None]) ** 2

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        size = self.shape[-1]
        squared = self._squared[factors].view(-1, 3, 2, size)  # (B, dot, axis, W)
        distance = (squared[:, :, 0, None, :] + squared[:, :, 1, :, None]).amin(1).sqrt_()  # (B, H, W), to the nearest
        white = distance.sub_(RADIUS * size - 0.5).clamp_(0, 1)
        return white.mul_(255).round_().byte()[:, None]
