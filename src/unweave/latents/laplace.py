"""A Laplace posterior: the encoder outputs location and log-scale, and codes are sampled."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor

from unweave.latents.latent import Code, Latent, Summary


class Laplace(Latent):
    """Independent Laplace latents with a standard Laplace prior. The representation is the location."""

    title: ClassVar[str] = "the laplace latent"

    @property
    def outputs(self) -> int:
        """The number of encoder outputs: locations, then log-scales."""
        return 2 * self.size

    def code(self, outputs: Tensor, learned: Mapping[str, Tensor], generator: torch.Generator | None = None) -> Code:
        """Sample z = location + exp(log-scale) · noise, or take the location if ``generator`` is None."""
        location, logscale = outputs.chunk(2, dim=1)  # (B, D) each
        if generator is None:
            return Code(location, location, logscale=logscale)
        noise = _noise(location.shape, generator).to(location)
        return Code(location + logscale.exp() * noise, location, logscale=logscale)

    def traversal(self, steps: int, span: float, summary: Summary | None, learned: Mapping[str, Tensor]) -> Tensor:
        """Return values (D, steps) evenly spaced from −span to span, in standard deviations of the prior, √2."""
        return math.sqrt(2) * torch.linspace(-span, span, steps).repeat(self.size, 1)

    def sample(
        self, n: int, generator: torch.Generator, summary: Summary | None, learned: Mapping[str, Tensor]
    ) -> Tensor:
        """Sample codes (n, D) from the prior."""
        return _noise((n, self.size), generator)


def _noise(shape: tuple[int, ...] | torch.Size, generator: torch.Generator) -> Tensor:
    """Sample the standard Laplace distribution, as the difference of two exponential variables."""
    uniform = torch.rand((2, *shape), generator=generator, device=generator.device)
    exponential = -torch.log1p(-uniform)  # 1 − u is never 0
    return exponential[0] - exponential[1]
