"""XYSquares: squares on a grid without overlap, so that pixel distances carry no order (Michlo et al. 2023)."""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType

import torch
from torch import Tensor

from unweave.data.factor_data import Card, FactorData, check_image_size
from unweave.errors import InputError, whole
from unweave.factors import FactorSpace


def _space(squares: int, grid: int) -> FactorSpace:
    return FactorSpace.of(**{f"{axis}{i}": grid for i in range(squares) for axis in "xy"})


class XYSquares(FactorData):
    """Squares in the red, green and blue channels in turn; squares in the same channel may overlap.

    With ``grey`` all squares are white in a single channel, as Disent draws them with ``rgb=False``.

    Each axis has ``grid`` positions, ``spacing`` pixels apart and centred in the image. If the spacing is the width of
    a square, positions do not overlap and all changes of a factor have the same perceived distance; with a smaller
    spacing they overlap, and distances increase along the factor (sec. 5.4).

    Args:
        size: The height and width of the images.
        squares: The number of squares.
        square: The width of a square in pixels; by default an eighth of ``size``.
        grid: The number of positions of each axis.
        spacing: The distance of two positions in pixels; by default the width of a square.
        grey: Whether squares are white in a single channel.
    """

    name = "xysquares"
    newer = MappingProxyType({"grey": False})
    card = Card(
        title="a red, a green and a blue square on a grid without overlap",
        space=_space(3, 8),
        shape=(3, 64, 64),
        licence="MIT (drawn here)",
        citation="Michlo, Klein and James, Overlooked Implications of the Reconstruction Loss for VAE Disentanglement, "
        "IJCAI 2023, sec. 5",
        home="https://github.com/nmichlo/disent",
    )

    def __init__(
        self,
        *,
        size: int = 64,
        squares: int = 3,
        square: int | None = None,
        grid: int = 8,
        spacing: int | None = None,
        grey: bool = False,
    ) -> None:
        self.shape = (1 if grey else 3, check_image_size(self.name, size, at_least=8), size)
        square = size // 8 if square is None else square
        spacing = square if spacing is None else spacing
        for option, value in (("squares", squares), ("square", square), ("grid", grid), ("spacing", spacing)):
            whole(f"xysquares: {option}", value, at_least=1)
        self.resolved = {"square": square, "spacing": spacing}
        extent = square + (grid - 1) * spacing
        if extent > size:
            raise InputError(
                f"xysquares: {grid} positions {spacing} pixels apart need {extent} pixels, but size is {size}."
            )
        self._space, self._grid, self._margin = _space(squares, grid), grid, (size - extent) // 2

    @cached_property
    def _covered(self) -> Tensor:
        """The pixels that a square at each position covers along one axis, as 0 or 255 (grid, W)."""
        square, spacing = self.resolved["square"], self.resolved["spacing"]
        corner = self._margin + spacing * torch.arange(self._grid)[:, None]  # (grid, 1)
        pixels = torch.arange(self.shape[-1])
        inside: Tensor = (pixels >= corner) & (pixels < corner + square)
        return inside.byte() * 255

    @property
    def space(self) -> FactorSpace:
        """Two coordinates per square."""
        return self._space

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        images = torch.zeros(len(factors), *self.shape, dtype=torch.uint8)
        covered = self._covered[factors]  # (B, 2 · squares, W)
        for square in range(factors.shape[1] // 2):
            columns, rows = covered[:, 2 * square], covered[:, 2 * square + 1]
            images[:, square % self.shape[0]] |= rows[:, :, None] & columns[:, None, :]
        return images
