"""Commitment: the codes move to the values that they took (QLAE)."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from unweave.latents import FSQ, Codebook, Latent
from unweave.model import Forward
from unweave.terms.quantisation import chosen_values
from unweave.terms.term import Term


def commitment_loss(continuous: Tensor, quantised: Tensor) -> Tensor:
    r"""Mean over latents and batch of :math:`(c - \mathrm{sg}(z))^2`, inputs (B, D): only c gets a gradient.

    Tripod, eq. 4, of Hsu et al. 2023 (QLAE), sec. 3; the equation has a sum over latents, the authors' code their mean.
    """
    return (continuous - quantised.detach()).square().mean()


class Commitment(Term):
    """The distance of the codes from the values that they took, which the encoder learns by.

    Tripod finds no need for it with finite scalar quantisation (sec. 3.1); it is allowed there all the same.
    """

    title: ClassVar[str] = "the commitment term"
    formula: ClassVar[str] = "(c − stop(z))², mean over latents; c the code, z the value it took"
    paper: ClassVar[str] = "QLAE (Hsu et al. 2023), sec. 3; Tripod (Hsu et al. 2024), eq. 4"
    latents: ClassVar[tuple[type[Latent], ...]] = (Codebook, FSQ)
    why: ClassVar[str] = "only a quantised latent has a value to commit to"

    def __call__(self, batch: Forward) -> Tensor:
        """Of the batch's codes."""
        return commitment_loss(batch.code.continuous, chosen_values(self.title, batch.code))
