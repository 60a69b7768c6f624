"""A KL divergence whose weight is controlled so that it follows a target (ControlVAE)."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn

from unweave.latents import Gaussian, Latent
from unweave.model import Forward
from unweave.terms.gaussians import posterior
from unweave.terms.kl import kl_divergence
from unweave.terms.term import StatefulTerm


class Controller(nn.Module):
    """A proportional-integral controller; its state is saved with the run."""

    integral: Tensor
    weight: Tensor  # of the last step, before it was limited

    def __init__(self, weight: float) -> None:
        super().__init__()
        self.register_buffer("integral", torch.zeros((), dtype=torch.float64))
        self.register_buffer("weight", torch.tensor(weight, dtype=torch.float64))

    def step(self, error: float, *, proportional: float, integral: float, least: float) -> float:
        r"""Return the next weight, :math:`K_p / (1 + e^{error}) + least - K_i \sum error`, at least ``least``.

        The sum stands still after a weight below ``least``, so that it cannot run away.

        Args:
            error: The wanted KL minus the measured one.
            proportional: :math:`K_p`.
            integral: :math:`K_i`.
            least: The smallest weight.

        Returns:
            The weight.
        """
        if float(self.weight) >= least:
            self.integral -= integral * error
        self.weight.fill_(proportional / (1 + math.exp(min(error, 500.0))) + least + float(self.integral))
        return max(least, float(self.weight))


class ControlledKL(StatefulTerm):
    """The KL divergence times a weight β that rises while the KL is above its target, and falls while it is below.

    Shao et al. 2020, sec. 4, with the constants of their code for disentanglement: the target starts at 0.5 nats and
    rises by 0.15 every 5,000 steps, to 18 on dSprites, and β is at least 1. The weight has no gradient.
    """

    title: ClassVar[str] = "the controlled kl term"
    formula: ClassVar[str] = (
        r"$\beta(t) \cdot \text{KL}$, $\beta(t) = K_p / (1 + \exp(e)) + \text{least} - K_i \sum e$, "
        r"$e = \text{target} - \text{KL}$"
    )
    paper: ClassVar[str] = "Shao et al. 2020 (ControlVAE), sec. 4"
    latents: ClassVar[tuple[type[Latent], ...]] = (Gaussian,)
    why: ClassVar[str] = "it controls a KL divergence, which needs a Gaussian posterior"
    target: float = Field(default=18.0, gt=0)  # nats
    first: float = Field(default=0.5, ge=0)  # the target of the first steps
    rise: float = Field(default=0.15, gt=0)  # of the target, at once
    every: int = Field(default=5_000, ge=1)  # steps between two rises
    proportional: float = Field(default=0.01, ge=0)
    integral: float = Field(default=0.001, ge=0)
    least: float = Field(default=1.0, ge=0)  # the smallest weight

    def __call__(self, forward: Forward, state: nn.Module) -> Tensor:  # type: ignore[override]
        """Compute the term from the posteriors of the batch, and update the controller."""
        assert isinstance(state, Controller)
        kl = kl_divergence(*posterior(self.title, forward.code))
        error = self.target_at(forward.step) - float(kl.detach())
        weight = state.step(error, proportional=self.proportional, integral=self.integral, least=self.least)
        return weight * kl

    def make_state(self, shape: tuple[int, int, int]) -> nn.Module:
        """Make a controller that has not seen an error yet."""
        return Controller(self.least)

    def target_at(self, step: int) -> float:
        """Return the target at a step; the authors count steps from 1."""
        return min(self.target, self.first + self.rise * ((step + 1) // self.every))
