"""Total correlation by a discriminator between codes and codes with permuted latents (FactorVAE)."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn
from torch.func import functional_call

from unweave.model import Forward
from unweave.terms.term import AdversarialTerm

SLOPE = 0.2  # of the leaky ReLU below 0


def density_ratio(adversary: nn.Module, z: Tensor) -> Tensor:
    r"""Compute the mean of :math:`D_0(z) - D_1(z)`, the log-odds that codes (B, D) are not permuted: a scalar in nats.

    Kim & Mnih 2018, sec. 3, eq. 3. The gradient reaches z but not the discriminator, whose parameters are detached.
    """
    frozen = {name: parameter.detach() for name, parameter in adversary.named_parameters()}
    logits: Tensor = functional_call(adversary, frozen, (z,))  # (B, 2)
    return (logits[:, 0] - logits[:, 1]).mean()


def discriminator_loss(adversary: nn.Module, z: Tensor, permuted: Tensor) -> Tensor:
    """Compute half the sum of two cross-entropies: codes (B, D) are class 0, permuted codes class 1.

    Codes are detached, so the model gets no gradient.
    """
    rows = torch.zeros(len(z), dtype=torch.long, device=z.device)
    real = F.cross_entropy(adversary(z.detach()), rows)
    fake = F.cross_entropy(adversary(permuted.detach()), rows + 1)
    return 0.5 * (real + fake)


def permute_latents(z: Tensor, generator: torch.Generator) -> Tensor:
    """Permute each latent of codes (B, D) across the batch independently: a sample of the product of the marginals."""
    order = torch.rand(z.shape, generator=generator, device=z.device).argsort(0)  # (B, D): one permutation per column
    return z.gather(0, order)


class TotalCorrelationDiscriminator(AdversarialTerm):
    """The total correlation, estimated by a discriminator that is trained alongside the model.

    The discriminator is that of disentanglement_lib, with 6 hidden layers (other public code has 5). Its initial
    weights are PyTorch's, or those of ``start`` if it is "tensorflow" or "xavier_normal". As there, the codes of the
    same batch are permuted by default; ``permuted="second"`` takes those of a second batch, as the paper does.
    """

    title: ClassVar[str] = "the total correlation discriminator term"
    formula: ClassVar[str] = (
        r"$\text{KL}(q(z) \| \prod_j q(z_j)) \approx E[D_0(z) - D_1(z)]$, "
        r"$D$ trained to distinguish $z$ from permuted $z$"
    )
    paper: ClassVar[str] = "Kim & Mnih 2018, sec. 3, alg. 2"
    permuted: Literal["same", "second"] = "same"  # the batch whose codes are permuted
    layers: int = Field(default=6, ge=1, le=100)  # hidden layers of the discriminator
    width: int = Field(default=1000, ge=1, le=100_000)  # units per hidden layer
    lr: float = Field(default=1e-4, gt=0)  # of the discriminator's Adam
    beta1: float = Field(default=0.5, ge=0, lt=1)
    beta2: float = Field(default=0.9, ge=0, lt=1)

    def __call__(self, forward: Forward, adversary: nn.Module) -> Tensor:  # type: ignore[override]
        """Compute the term from the codes of the batch."""
        return density_ratio(adversary, forward.code.z)

    def make_adversary(self, latents: int) -> nn.Module:
        """Make a discriminator from codes (B, latents) to two logits (B, 2)."""
        sizes = [latents, *[self.width] * self.layers]
        hidden = [
            module
            for size, following in pairwise(sizes)
            for module in (nn.Linear(size, following), nn.LeakyReLU(SLOPE))
        ]
        return nn.Sequential(*hidden, nn.Linear(self.width, 2))

    def adversary_loss(self, forward: Forward, adversary: nn.Module) -> Tensor:
        """Compute the discriminator's loss on the codes of the batch and their permutation."""
        z = forward.code.z
        other = z if self.permuted == "same" else forward.second_codes
        return discriminator_loss(adversary, z, permute_latents(other, forward.generator))
