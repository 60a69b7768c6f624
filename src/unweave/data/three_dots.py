"""Dots: identical black discs on white, three at any positions or four in their quarters (Rhodes & Lee 2021)."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from unweave.data.factor_data import Card, FactorData, check_image_size
from unweave.factors import FactorSpace

PLACES = 64  # values of each coordinate of three dots
STEPS = 40  # of four dots, within their quarters
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
        return draw_discs(self._squared[factors].view(len(factors), 3, 2, self.shape[-1]))


class FourDots(FactorData):
    """One dot in each quarter of the image, from edge to edge of its quarter: MPI3D-Multi as a drawing.

    As in ``mpi3d_multi``, each object has 40 × 40 positions, and objects are numbered from the top of the left column,
    then of the right. No dot touches another quarter.
    """

    name = "four_dots"
    card = Card(
        title="four black dots on white, each moving in a quarter of the image",
        space=FactorSpace.of(**{f"{axis}{dot}": STEPS for dot in range(4) for axis in "xy"}),
        shape=(1, 64, 64),
        licence="MIT (drawn here)",
        citation="after MPI3D-Multi of Rhodes and Lee, Local Disentanglement in Variational Auto-Encoders Using "
        "Jacobian L1 Regularization, NeurIPS 2021",
        home="https://github.com/travers-rhodes/jlonevae",
    )

    def __init__(self, *, size: int = 64) -> None:
        self.shape = (1, check_image_size(self.name, size, at_least=8), size)

    @cached_property
    def _squared(self) -> Tensor:
        """The squared distance of each place from each pixel along one axis, by half of the image (2, places, W)."""
        size = self.shape[-1]
        margin = RADIUS * size + 0.5  # where the edge of a dot ends
        inside = margin + torch.arange(STEPS) * ((size / 2 - 2 * margin) / (STEPS - 1))  # in pixels
        centers = torch.stack([inside, inside + size / 2])[..., None]
        return (torch.arange(size) + 0.5 - centers) ** 2

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        halves = torch.tensor([0, 0, 0, 1, 1, 0, 1, 1])  # of x0, y0, x1, …: 1 is the right or the lower one
        return draw_discs(self._squared[halves, factors].view(len(factors), 4, 2, self.shape[-1]))


def draw_discs(squared: Tensor) -> Tensor:
    """Draw discs, whose squared distances from pixels (B, disc, axis, W) are given, as images (B, 1, W, W)."""
    distance = (squared[:, :, 0, None, :] + squared[:, :, 1, :, None]).amin(1).sqrt_()  # (B, H, W), to the nearest
    white = distance.sub_(RADIUS * squared.shape[-1] - 0.5).clamp_(0, 1)
    return white.mul_(255).round_().byte()[:, None]
