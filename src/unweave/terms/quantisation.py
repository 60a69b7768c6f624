"""Quantisation: the codebook's values move to the codes that took them (QLAE)."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from unweave.errors import InputError
from unweave.latents import Code, Codebook, Latent
from unweave.model import Forward
from unweave.terms.term import Term


def quantisation_loss(continuous: Tensor, quantised: Tensor) -> Tensor:
    r"""Mean over latents and batch of :math:`(\mathrm{sg}(c) - z)^2`, inputs (B, D): only z gets a gradient.

    Tripod, eq. 3, of Hsu et al. 2023 (QLAE), sec. 3; the equation has a sum over latents, the authors' code their mean.
    """
    return (continuous.detach() - quantised).square().mean()


def chosen_values(title: str, code: Code) -> Tensor:
    """The values (B, D) that a code took; where it is not quantised, the error says what needs them."""
    if code.quantised is None:
        raise InputError(f"{title} needs a quantised code, and this one is not.")
    return code.quantised


class Quantisation(Term):
    """The distance of the chosen values from the codes, which the codebook learns by."""

    title: ClassVar[str] = "the quantisation term"
    formula: ClassVar[str] = "(stop(c) − z)², mean over latents; c the code, z its value in the codebook"
    paper: ClassVar[str] = "QLAE (Hsu et al. 2023), sec. 3; Tripod (Hsu et al. 2024), eq. 3"
    latents: ClassVar[tuple[type[Latent], ...]] = (Codebook,)
    why: ClassVar[str] = "only a codebook has values that can learn"

    def __call__(self, batch: Forward) -> Tensor:
        """Of the batch's codes."""
        return quantisation_loss(batch.code.continuous, chosen_values(self.title, batch.code))
