"""Quantisation: the values of a codebook move towards the codes that were quantised to them (QLAE)."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from unweave.errors import InputError
from unweave.latents import Code, Codebook, Latent
from unweave.model import Forward
from unweave.terms.term import Term


def quantisation_loss(continuous: Tensor, quantised: Tensor) -> Tensor:
    r"""Compute the mean over latents and batch of :math:`(\mathrm{sg}(c) - z)^2`, inputs (B, D).

    Hsu et al. 2023 (QLAE), sec. 3, and Tripod, eq. 3. The equation sums over latents; the authors' code averages.
    Only z gets a gradient.
    """
    return (continuous.detach() - quantised).square().mean()


def chosen_values(title: str, code: Code) -> Tensor:
    """Return the quantised values (B, D) of a code, or raise an error that names what needs them."""
    if code.quantised is None:
        raise InputError(f"{title} needs a quantised code, but this code is not quantised.")
    return code.quantised


class Quantisation(Term):
    """The squared distance between chosen values and codes, which trains the codebook."""

    title: ClassVar[str] = "the quantisation term"
    formula: ClassVar[str] = r"$(\text{stop}(c) - z)^2$, mean over latents; $c$ the code, $z$ its value in the codebook"
    paper: ClassVar[str] = "QLAE (Hsu et al. 2023), sec. 3; Tripod (Hsu et al. 2024), eq. 3"
    latents: ClassVar[tuple[type[Latent], ...]] = (Codebook,)
    why: ClassVar[str] = "only a codebook has values that are trained"

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the term from the codes of the batch."""
        return quantisation_loss(forward.code.continuous, chosen_values(self.title, forward.code))
