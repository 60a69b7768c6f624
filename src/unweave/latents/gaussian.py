"""A Gaussian posterior: the encoder outputs mean and log-variance, and codes are sampled (Kingma & Welling 2014)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from unweave.latents.latent import Code, Latent, Summary
from unweave.settings import written_unless


class Gaussian(Latent):
    """Independent normal latents with a standard normal prior. The representation is the posterior mean.

    The second half of the encoder's outputs are log-variances, or, with ``deviation="softplus"``, values whose softplus
    is the standard deviation, as in the code of Tripod for β-TCVAE.
    """

    title: ClassVar[str] = "the gaussian latent"
    deviation: Annotated[Literal["exp", "softplus"], written_unless("exp")] = "exp"

    @property
    def outputs(self) -> int:
        """The number of encoder outputs: means, then log-variances."""
        return 2 * self.size

    def code(self, outputs: Tensor, learned: Mapping[str, Tensor], generator: torch.Generator | None = None) -> Code:
        """Sample z = mean + exp(logvar / 2) · noise, or take the mean if ``generator`` is None."""
        mean, logvar = outputs.chunk(2, dim=1)  # (B, D) each
        if self.deviation == "softplus":
            logvar = 2 * F.softplus(logvar).clamp_min(torch.finfo(logvar.dtype).tiny).log()
        return draw(mean, logvar, generator)

    def traversal(self, steps: int, span: float, summary: Summary | None, learned: Mapping[str, Tensor]) -> Tensor:
        """Return values (D, steps) evenly spaced from −span to span, in standard deviations of the prior."""
        return torch.linspace(-span, span, steps).repeat(self.size, 1)

    def sample(
        self, n: int, generator: torch.Generator, summary: Summary | None, learned: Mapping[str, Tensor]
    ) -> Tensor:
        """Sample codes (n, D) from the prior."""
        return torch.randn(n, self.size, generator=generator)


def draw(mean: Tensor, logvar: Tensor, generator: torch.Generator | None) -> Code:
    """Sample a code given mean and log-variance (B, D), or take the mean if ``generator`` is None."""
    if generator is None:
        return Code(mean, mean, logvar)
    noise = torch.randn(mean.shape, generator=generator, device=mean.device, dtype=mean.dtype)
    return Code(mean + (0.5 * logvar).exp() * noise, mean, logvar)
