"""A Gaussian posterior: the encoder gives a mean and a log-variance, and the code is drawn (Kingma & Welling 2014)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor

from unweave.latents.latent import Code, Latent


class Gaussian(Latent):
    """Independent normal latents; the representation is their mean."""

    title: ClassVar[str] = "the gaussian latent"

    @property
    def outputs(self) -> int:
        """Means, then log-variances."""
        return 2 * self.size

    def code(self, outputs: Tensor, learned: Mapping[str, Tensor], generator: torch.Generator | None = None) -> Code:
        """Draw z = mean + exp(logvar / 2) · noise, or take the mean where there is no generator."""
        mean, logvar = outputs.chunk(2, dim=1)  # (B, D) each
        return draw(mean, logvar, generator)


def draw(mean: Tensor, logvar: Tensor, generator: torch.Generator | None) -> Code:
    """The code of a posterior with this mean and log-variance (B, D)."""
    if generator is None:
        return Code(mean, mean, logvar)
    noise = torch.randn(mean.shape, generator=generator, device=mean.device, dtype=mean.dtype)
    return Code(mean + (0.5 * logvar).exp() * noise, mean, logvar)
