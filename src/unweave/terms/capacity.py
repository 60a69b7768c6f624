"""Capacity: hold the KL at a value that grows during training, so that factors are learned one after another."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field
from torch import Tensor

from unweave.latents import Gaussian, Latent
from unweave.model import Forward
from unweave.terms.gaussians import posterior
from unweave.terms.kl import kl_divergence
from unweave.terms.schedules import Schedule
from unweave.terms.term import Term


def capacity_loss(mean: Tensor, logvar: Tensor, *, capacity: float) -> Tensor:
    r"""Compute :math:`|KL - C|` of posteriors (B, D), a scalar in nats.

    Burgess et al. 2018, sec. 5, eq. 8. The KL is averaged over the batch before the absolute value is taken, so that
    images may differ in how much information they need.
    """
    return (kl_divergence(mean, logvar) - capacity).abs()


class Capacity(Term):
    """The distance between the KL and a growing capacity (AnnealedVAE)."""

    title: ClassVar[str] = "the capacity term"
    formula: ClassVar[str] = r"$|\text{KL}(q(z \mid x) \| N(0, 1)) - C|$, $C$ linear from 0 to its maximum"
    paper: ClassVar[str] = "Burgess et al. 2018, sec. 5, eq. 8; settings: Locatello et al. 2019, Table 3"
    latents: ClassVar[tuple[type[Latent], ...]] = (Gaussian,)
    why: ClassVar[str] = "a capacity is a KL divergence, which needs a Gaussian posterior"
    maximum: float = Field(default=25.0, ge=0)  # nats
    over: float = Field(default=1 / 3, gt=0)  # a share of the run, or steps if above 1; published: 100,000 of 300,000

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the term from the posteriors of the batch, at its step."""
        capacity = Schedule(kind="linear", over=self.over).at(forward.step, forward.steps, final=self.maximum)
        return capacity_loss(*posterior(self.title, forward.code), capacity=capacity)

    def needs_total(self) -> bool:
        """Return whether the capacity grows over a fraction of the run."""
        return self.over <= 1
