"""Latent quantisation: each latent takes the closest value of its own small codebook (Hsu et al. 2023, QLAE)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from unweave.latents.latent import Code, Latent, straight_through


class Codebook(Latent):
    """``levels`` learned values per latent, initially evenly spaced from −0.5 to 0.5.

    The quantisation term trains the values, and the commitment term pulls the encoder's outputs towards them.
    """

    title: ClassVar[str] = "the codebook latent"
    levels: int = Field(default=10, ge=2, le=100_000)

    def start(self) -> dict[str, Tensor]:
        """Return the initial codebook (D, levels)."""
        return {"codebook": torch.linspace(-0.5, 0.5, self.levels).repeat(self.size, 1)}

    def code(self, outputs: Tensor, learned: Mapping[str, Tensor], generator: torch.Generator | None = None) -> Code:
        """Choose the closest value for each output. Indices are exact: rounding cannot split one value into two."""
        codebook = learned["codebook"]  # (D, levels)
        indices = (outputs.detach().unsqueeze(-1) - codebook.detach()).abs().argmin(-1)  # (B, D)
        quantised = codebook.to(outputs.dtype).T.gather(0, indices)
        return Code(straight_through(outputs, quantised), outputs, quantised=quantised, indices=indices)

    def values(self, learned: Mapping[str, Tensor]) -> Tensor:
        """Return the codebook (D, levels), sorted."""
        return learned["codebook"].detach().sort(dim=1).values
