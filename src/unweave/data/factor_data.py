"""FactorData: what every data set is. Images as a function of factors, a whole batch at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from unweave.data.files import RemoteFile
from unweave.errors import InputError, whole
from unweave.factors import FactorSpace, Whole, as_integers, check_generator


@dataclass(frozen=True)
class Card:
    """What to know of a data set before using it."""

    title: str  # one line
    space: FactorSpace | None  # None where the factors are not known
    shape: tuple[int, int, int]  # (C, H, W) by default
    licence: str
    citation: str
    home: str  # where the file comes from, or where the drawing was described
    files: tuple[RemoteFile, ...] = ()  # none for a set that is drawn
    files_of: str = ""  # the set in whose folder the files lie, where it is another one


class Batch(NamedTuple):
    """Random images (B, C, H, W) uint8 and the factors (B, K) behind them, None where they are not known."""

    images: Tensor
    factors: Tensor | None


class FactorData:
    """Images uint8 (B, C, H, W) as a function of factors (B, K), and of chance where ``stochastic`` is true."""

    name: str
    card: Card
    shape: tuple[int, int, int]  # (C, H, W)
    stochastic = False
    options: Mapping[str, Any] = MappingProxyType({})  # what the set was loaded with

    @property
    def has_factors(self) -> bool:
        """Whether the factors behind the images are known."""
        return self.card.space is not None

    @property
    def can_intervene(self) -> bool:
        """Whether there is an image of every point of the grid."""
        return self.has_factors

    @property
    def space(self) -> FactorSpace:
        """The grid of factors; an error where the factors are not known."""
        if self.card.space is None:
            raise InputError(f"{self.name} has no factors, only images: this needs data whose factors are known.")
        return self.card.space

    @property
    def size(self) -> int:
        """How many images there are, counting one for each point of the grid."""
        return self.space.size

    def exist(self, factors: Tensor) -> Tensor:
        """Which of the points (B, K) have an image, (B,) booleans."""
        return torch.ones(len(factors), dtype=torch.bool)

    def images(self, factors: Whole, generator: torch.Generator | None = None) -> Tensor:
        """The images (B, C, H, W) uint8 of points ``factors`` (B, K); a stochastic set needs the generator."""
        factors = self.space.check(factors)
        if factors.ndim != 2:
            raise InputError(f"factors must be (B, K), got shape {tuple(factors.shape)}.")
        self._check_generator(generator)
        return self._draw(factors.cpu(), generator)

    def rows(self, index: Whole, generator: torch.Generator | None = None) -> Tensor:
        """The images (B, C, H, W) uint8 at positions ``index`` (B,): on the grid, or in the order of the files."""
        index = self._positions(index)
        self._check_generator(generator)
        return self._read(index, generator)

    def sample(self, n: int, generator: torch.Generator, **narrowing: Any) -> Batch:
        """Draw n images and their factors; ``narrowing`` goes to :meth:`FactorSpace.sample`."""
        n = whole("the number of images", n)
        self._check_generator(check_generator(generator))
        if narrowing or self.has_factors:
            factors = self.space.sample(n, generator, **narrowing)
            return Batch(self._draw(factors, generator), factors)
        index = torch.randint(self.size, (n,), generator=generator)
        return Batch(self._read(index, generator), None)

    # A set gives one of the next two; the other follows.

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        """The images of checked points (B, K)."""
        return self._read(self.space.index(factors), generator)

    def _read(self, index: Tensor, generator: torch.Generator | None) -> Tensor:
        """The images at checked positions (B,)."""
        return self._draw(self.space.at(index), generator)

    def _positions(self, index: Whole) -> Tensor:
        index = as_integers("positions", index).cpu()
        if index.ndim != 1:
            raise InputError(f"positions must be (B,), got shape {tuple(index.shape)}.")
        if index.numel() and not 0 <= int(index.min()) <= int(index.max()) < self.size:
            raise InputError(f"positions go from 0 to {self.size - 1}, got {int(index.min())} to {int(index.max())}.")
        return index

    def _check_generator(self, generator: torch.Generator | None) -> None:
        if self.stochastic and generator is None:
            raise InputError(f"{self.name} draws at random given the factors: pass a torch.Generator.")
        if generator is not None and check_generator(generator).device.type != "cpu":
            raise InputError(f"images are drawn on the CPU: pass a CPU generator, not one on {generator.device}.")

    def __repr__(self) -> str:
        what = str(self.card.space) if self.has_factors else f"{self.size:,} images without factors"
        return f"<{self.name}: {what}; {'×'.join(map(str, self.shape))}>"


def check_image_size(name: str, size: int, at_least: int = 4) -> int:
    """An image's width and height in pixels, or an error that says what would do."""
    return whole(f"{name}: size in pixels", size, at_least=at_least, at_most=4096)
