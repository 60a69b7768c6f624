"""Total correlation by a discriminator: can codes be told from codes whose latents were shuffled? (FactorVAE)."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn
from torch.func import functional_call

from unweave.errors import InputError
from unweave.model import Forward
from unweave.terms.term import Term

SLOPE = 0.2  # of the leaky ReLU below 0


def density_ratio(adversary: nn.Module, z: Tensor) -> Tensor:
    r"""Mean of :math:`D_0(z) - D_1(z)`, the log-odds that codes (B, D) are not shuffled: a scalar in nats.

    Kim & Mnih 2018, sec. 3, eq. 3. The gradient reaches z and never the discriminator, whose parameters enter detached.
    """
    frozen = {name: parameter.detach() for name, parameter in adversary.named_parameters()}
    logits: Tensor = functional_call(adversary, frozen, (z,))  # (B, 2)
    return (logits[:, 0] - logits[:, 1]).mean()


def discriminator_loss(adversary: nn.Module, z: Tensor, shuffled: Tensor) -> Tensor:
    """Half the sum of two cross-entropies: codes (B, D) are class 0, shuffled ones class 1. Neither gets a gradient."""
    rows = torch.zeros(len(z), dtype=torch.long, device=z.device)
    real = F.cross_entropy(adversary(z.detach()), rows)
    fake = F.cross_entropy(adversary(shuffled.detach()), rows + 1)
    return 0.5 * (real + fake)


def permute_latents(z: Tensor, generator: torch.Generator) -> Tensor:
    """Each latent of codes (B, D) shuffled across the batch by itself: a sample of the product of the marginals."""
    order = torch.rand(z.shape, generator=generator, device=z.device).argsort(0)  # (B, D): a permutation a column
    return z.gather(0, order)


class TotalCorrelationDiscriminator(Term):
    """The total correlation by a discriminator, which is trained beside the model.

    The discriminator is disentanglement_lib's, with 6 hidden layers (other public code has 5), from PyTorch's own
    initial weights. As there, the codes that are shuffled are the same batch's, where the paper draws a second batch.
    """

    title: ClassVar[str] = "the total correlation discriminator term"
    formula: ClassVar[str] = "KL(q(z) ‖ Πⱼ q(zⱼ)) ≈ E[D₀(z) − D₁(z)], D trained to tell z from permuted z"
    paper: ClassVar[str] = "Kim & Mnih 2018, sec. 3, alg. 2"
    name: ClassVar[str] = "total_correlation_discriminator"  # of its discriminator among the batch's adversaries
    layers: int = Field(default=6, ge=1, le=100)  # hidden ones
    width: int = Field(default=1000, ge=1, le=100_000)
    lr: float = Field(default=1e-4, gt=0)  # of the discriminator's Adam
    beta1: float = Field(default=0.5, ge=0, lt=1)
    beta2: float = Field(default=0.9, ge=0, lt=1)

    def __call__(self, batch: Forward) -> Tensor:
        """Of the batch's codes."""
        if self.name not in batch.adversaries:
            raise InputError(f"{self.title} needs its discriminator, {self.name!r}, among the batch's adversaries.")
        return density_ratio(batch.adversaries[self.name], batch.code.z)

    def adversary(self, latents: int) -> nn.Module:
        """A new discriminator: codes (B, latents) to two logits (B, 2)."""
        sizes = [latents, *[self.width] * self.layers]
        hidden = [
            module
            for size, following in pairwise(sizes)
            for module in (nn.Linear(size, following), nn.LeakyReLU(SLOPE))
        ]
        return nn.Sequential(*hidden, nn.Linear(self.width, 2))

    def adversary_loss(self, batch: Forward, adversary: nn.Module) -> Tensor:
        """The batch's codes against themselves shuffled."""
        z = batch.code.z
        return discriminator_loss(adversary, z, permute_latents(z, batch.generator))
