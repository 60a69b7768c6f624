"""A term of the loss, a formula of one forward pass without its weight or schedule; and the reductions of terms."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from unweave.latents import Latent
from unweave.model import Forward, Model
from unweave.settings import Settings

Reduction = Literal["sum", "mean"]
SMALLEST = 1e-6  # added to standard deviations, because they are divisors; as in Tripod's code


class Term(Settings):
    """A scalar function of a forward pass. Its settings are its fields."""

    formula: ClassVar[str] = ""  # a sentence, with LaTeX between dollar signs
    paper: ClassVar[str] = ""
    latents: ClassVar[tuple[type[Latent], ...]] = (Latent,)  # the kinds of latents that it is defined for
    why: ClassVar[str] = ""  # why it is not defined for other latents, as a clause for messages
    smooth: ClassVar[bool] = False  # whether it needs a decoder with second derivatives
    members: ClassVar[int] = 1  # images in a group: 3 for a term of triplets

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the term, a scalar."""
        raise NotImplementedError

    def refusal(self, latent: Latent) -> str | None:
        """Return why this term cannot be combined with a latent, or None if it can."""
        return None if isinstance(latent, self.latents) else self.why

    def needs_total(self) -> bool:
        """Return whether the term depends on the total number of steps, so that longer training is a different run."""
        return False

    def check_model(self, model: Model) -> None:
        """Raise an InputError if this term cannot train a model. Called once, before training."""


class StatefulTerm(Term):
    """A term with a module of its own that no optimiser trains, such as a controller or a net with fixed weights.

    Training makes the module, keeps it with the checkpoint, and passes it to the term.
    """

    def __call__(self, forward: Forward, state: nn.Module) -> Tensor:  # type: ignore[override]
        """Compute the term, a scalar."""
        raise NotImplementedError

    def make_state(self, shape: tuple[int, int, int]) -> nn.Module:
        """Make the module for images of this shape (C, H, W)."""
        raise NotImplementedError


class AdversarialTerm(Term):
    """A term with an adversary: a network that is trained alongside the model, by its own Adam optimiser.

    Training makes the adversary, keeps it with the run, and passes it to the term. The term must not pass gradients to
    the adversary, and the adversary's loss must not pass gradients to the model: both are differentiated in one
    backward pass.
    """

    lr: float = Field(default=1e-4, gt=0)  # of the adversary's Adam
    beta1: float = Field(default=0.9, ge=0, lt=1)
    beta2: float = Field(default=0.999, ge=0, lt=1)

    def __call__(self, forward: Forward, adversary: nn.Module) -> Tensor:  # type: ignore[override]
        """Compute the term, a scalar."""
        raise NotImplementedError

    def make_adversary(self, latents: int) -> nn.Module:
        """Make a new adversary for a model with this number of latents. Called with a seeded global generator."""
        raise NotImplementedError

    def adversary_loss(self, forward: Forward, adversary: nn.Module) -> Tensor:
        """Compute what the adversary minimises, a scalar."""
        raise NotImplementedError


def full_precision(like: Tensor) -> AbstractContextManager[object]:
    """Disable autocast on the tensor's device, so that layers compute in the precision of their weights."""
    return torch.autocast(like.device.type, enabled=False)


def over_batch(values: Tensor, reduction: Reduction) -> Tensor:
    """Sum or average ``values`` (B, …) over all axes but the first, then average over the batch: a scalar.

    The mean is the normalised form of Michlo et al. 2023, app. B.1, with which the same weights can be used for all
    image sizes and numbers of latents.
    """
    rows = values.flatten(1)  # (B, elements)
    return rows.sum(1).mean() if reduction == "sum" else rows.mean()


def batch_scale(continuous: Tensor) -> Tensor:
    """Compute the biased standard deviation (D,) of continuous codes (B, D) over the batch, plus 1e-6.

    Tripod (Hsu et al. 2024), sec. 3.4, takes the codes before rounding, which may vary when the rounded ones do not. A
    constant latent has a gradient of 0, not an infinite one.
    """
    return continuous.std(0, correction=0) + SMALLEST
