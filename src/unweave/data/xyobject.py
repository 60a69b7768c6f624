"""XYObject: one coloured square; the same images with two choices of factors (Michlo et al. 2023, sec. 7)."""

from __future__ import annotations

from functools import cached_property
from typing import Literal, get_args

import torch
from torch import Tensor

from unweave.data.factor_data import Card, FactorData, check_image_size
from unweave.errors import InputError, unknown, whole
from unweave.factors import Categorical, Cyclic, Factor, FactorSpace

RED, YELLOW, GREEN, CYAN, BLUE, MAGENTA, WHITE = (
    (255, 0, 0),
    (255, 255, 0),
    (0, 255, 0),
    (0, 255, 255),
    (0, 0, 255),
    (255, 0, 255),
    (255, 255, 255),
)
Palette = Literal["rainbow", "rgb", "colours", "greys"]
PALETTES: dict[str, tuple[tuple[int, int, int], ...]] = {
    "rainbow": (RED, YELLOW, GREEN, CYAN, BLUE, MAGENTA),
    "rgb": (RED, GREEN, BLUE),
    "colours": (RED, GREEN, BLUE, YELLOW, CYAN, MAGENTA, WHITE),
    "greys": (WHITE,),
}


def _card(title: str, space: FactorSpace) -> Card:
    return Card(
        title=title,
        space=space,
        shape=(3, 64, 64),
        licence="MIT (drawn here)",
        citation="Michlo, Klein and James, Overlooked Implications of the Reconstruction Loss for VAE Disentanglement, "
        "IJCAI 2023, sec. 7; the framework Disent",
        home="https://github.com/nmichlo/disent",
    )


def _space(places: int, sizes: int, **colours: int | Factor) -> FactorSpace:
    return FactorSpace.of(x=places, y=places, scale=sizes, **colours)


class XYObject(FactorData):
    """A square whose colour is one factor: all hues at the lowest intensity, then all at the next.

    Neighbouring values of the factor are different hues, so that distances along it do not follow pixels.

    Args:
        size: The height and width of the images.
        spacing: The distance of two positions in pixels; by default 2 of 64.
        smallest: The smallest width of the square in pixels; by default 7 of 64.
        largest: The largest width; by default 15 of 64.
        growth: The difference of two widths; by default 2 of 64.
        palette: The hues.
        intensities: The number of intensities of each hue.
    """

    name = "xyobject"
    card = _card("one coloured square of varying size; hue and intensity are one factor", _space(25, 5, colour=24))

    def __init__(
        self,
        *,
        size: int = 64,
        spacing: int | None = None,
        smallest: int | None = None,
        largest: int | None = None,
        growth: int | None = None,
        palette: Palette = "rainbow",
        intensities: int = 4,
    ) -> None:
        self.shape = (3, check_image_size(self.name, size, at_least=8), size)
        smallest = max(1, 7 * size // 64) if smallest is None else smallest
        self.resolved = {
            "spacing": max(1, 2 * size // 64) if spacing is None else spacing,
            "smallest": smallest,
            "largest": max(smallest, 15 * size // 64) if largest is None else largest,
            "growth": max(1, 2 * size // 64) if growth is None else growth,
        }
        for option, value in (*self.resolved.items(), ("intensities", intensities)):
            whole(f"{self.name}: {option}", value, at_least=1)
        if palette not in get_args(Palette):
            raise unknown("palette", str(palette), get_args(Palette))
        largest = self.resolved["largest"]
        if not smallest <= largest <= size:
            raise InputError(
                f"{self.name}: sizes of squares must have smallest ≤ largest ≤ size, got {smallest}, {largest}, {size}."
            )
        self._hues = torch.tensor(PALETTES[palette])  # (hues, 3)
        self._intensities, self._palette = intensities, palette
        self._sizes = torch.arange(smallest, largest + 1, self.resolved["growth"])
        self._places = (size - largest) // self.resolved["spacing"] + 1

    @property
    def space(self) -> FactorSpace:
        """Position, size and colour."""
        return _space(self._places, len(self._sizes), colour=self._intensities * len(self._hues))

    @cached_property
    def _covered(self) -> Tensor:
        """The pixels that a square of each size at each position covers along one axis (sizes, places, W)."""
        centred = (self.resolved["largest"] - self._sizes)[:, None, None] // 2  # smaller squares keep their centre
        start = self.resolved["spacing"] * torch.arange(self._places)[:, None] + centred  # (sizes, places, 1)
        pixels = torch.arange(self.shape[-1])
        inside: Tensor = (pixels >= start) & (pixels < start + self._sizes[:, None, None])
        return inside

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        return self._squares(factors, factors[:, 3] // len(self._hues), factors[:, 3] % len(self._hues))

    def _squares(self, factors: Tensor, intensity: Tensor, hue: Tensor) -> Tensor:
        x, y, scale = factors[:, 0], factors[:, 1], factors[:, 2]
        inside = self._covered[scale, y][:, :, None] & self._covered[scale, x][:, None, :]  # (B, H, W)
        colour = self._hues[hue] * (intensity[:, None] + 1) // self._intensities  # (B, 3)
        return inside[:, None] * colour.byte()[:, :, None, None]


class XYObjectShaded(XYObject):
    """The images of :class:`XYObject`, with hue and intensity as two factors, along which distances follow pixels."""

    name = "xyobject_shaded"
    card = _card(
        "one coloured square of varying size; hue and intensity are two factors",
        _space(25, 5, intensity=4, colour=Cyclic(6)),
    )

    @property
    def space(self) -> FactorSpace:
        """Position, size, intensity and hue."""
        hues = Cyclic(len(self._hues)) if self._palette == "rainbow" else Categorical(len(self._hues))
        return _space(self._places, len(self._sizes), intensity=self._intensities, colour=hues)

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        return self._squares(factors, factors[:, 3], factors[:, 4])
