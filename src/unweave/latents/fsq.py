"""Finite scalar quantisation: each latent rounded to one of a few fixed values (Mentzer et al. 2023)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from unweave.latents.latent import Code, Latent, straight_through


class FSQ(Latent):
    """``levels`` values from −1 to 1 a latent, evenly spaced, the same for all; nothing is learned."""

    title: ClassVar[str] = "the fsq latent"
    levels: int = Field(default=12, ge=2, le=100_000)

    def code(self, outputs: Tensor, learned: Mapping[str, Tensor], generator: torch.Generator | None = None) -> Code:
        r"""Squash, round and rescale: :math:`\frac{2}{n-1} \mathrm{round}(\frac{n-1}{2} (\tanh(x) + 1)) - 1`."""
        continuous = outputs.tanh()
        indices = ((continuous.detach() + 1) * ((self.levels - 1) / 2)).round().long()
        quantised = self._grid(outputs)[indices]  # the same float for the same index, always
        return Code(straight_through(continuous, quantised), continuous, quantised=quantised, indices=indices)

    def values(self, learned: Mapping[str, Tensor]) -> Tensor:
        """The same values (D, levels) for each latent."""
        return self._grid(torch.empty(())).expand(self.size, -1)

    def _grid(self, like: Tensor) -> Tensor:
        steps = torch.arange(self.levels, device=like.device, dtype=torch.float64)
        return (2 * steps / (self.levels - 1) - 1).to(like.dtype)
