"""Finite scalar quantisation: each latent is rounded to one of a few fixed values (Mentzer et al. 2023)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from unweave.latents.latent import Code, Latent, straight_through


class FSQ(Latent):
    """``levels`` evenly spaced values from −1 to 1, the same for every latent and not learned."""

    title: ClassVar[str] = "the fsq latent"
    levels: int = Field(default=12, ge=2, le=100_000)

    def code(self, outputs: Tensor, learned: Mapping[str, Tensor], generator: torch.Generator | None = None) -> Code:
        r"""Squash, round and rescale: :math:`\frac{2}{n-1} \mathrm{round}(\frac{n-1}{2} (\tanh(x) + 1)) - 1`."""
        continuous = outputs.tanh()
        indices = ((continuous.detach() + 1) * ((self.levels - 1) / 2)).round().long()
        quantised = self._grid(outputs)[indices]  # one index always gives the same float
        return Code(straight_through(continuous, quantised), continuous, quantised=quantised, indices=indices)

    def values(self, learned: Mapping[str, Tensor]) -> Tensor:
        """Return the values (D, levels), the same for each latent."""
        return self._grid(torch.empty(())).expand(self.size, -1)

    def _grid(self, like: Tensor) -> Tensor:
        steps = torch.arange(self.levels, device=like.device, dtype=torch.float64)
        return (2 * steps / (self.levels - 1) - 1).to(like.dtype)
