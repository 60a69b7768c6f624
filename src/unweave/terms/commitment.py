"""Commitment: codes move towards the values they were quantised to (QLAE)."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from unweave.latents import FSQ, Codebook, Latent
from unweave.model import Forward
from unweave.terms.quantisation import chosen_values
from unweave.terms.term import Term


def commitment_loss(continuous: Tensor, quantised: Tensor) -> Tensor:
    r"""Compute the mean over latents and batch of :math:`(c - \mathrm{sg}(z))^2`, inputs (B, D).

    Hsu et al. 2023 (QLAE), sec. 3, and Tripod, eq. 4. The equation sums over latents; the authors' code averages.
    Only c gets a gradient.
    """
    return (continuous - quantised.detach()).square().mean()


class Commitment(Term):
    """The squared distance between codes and their quantised values, which trains the encoder.

    Tripod does not need it with finite scalar quantisation (sec. 3.1), but allows the combination.
    """

    title: ClassVar[str] = "the commitment term"
    formula: ClassVar[str] = r"$(c - \text{stop}(z))^2$, mean over latents; $c$ the code, $z$ its quantised value"
    paper: ClassVar[str] = "QLAE (Hsu et al. 2023), sec. 3; Tripod (Hsu et al. 2024), eq. 4"
    latents: ClassVar[tuple[type[Latent], ...]] = (Codebook, FSQ)
    why: ClassVar[str] = "only a quantised latent has a value to commit to"

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the term from the codes of the batch."""
        return commitment_loss(forward.code.continuous, chosen_values(self.title, forward.code))
