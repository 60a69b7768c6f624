"""Disentangled inferred prior: do the codes have the covariance of the prior? (DIP-VAE-I and DIP-VAE-II)."""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from unweave.latents import Gaussian, Latent
from unweave.model import Forward
from unweave.terms.gaussians import posterior
from unweave.terms.term import Term, full_precision

DIAGONAL = {"i": 10.0, "ii": 1.0}  # λ_d / λ_od as published for each kind


def dip_penalty(covariance: Tensor, *, diagonal: float) -> Tensor:
    r"""Compute :math:`\sum_{i \ne j} C_{ij}^2 + diagonal \sum_i (C_{ii} - 1)^2` of a covariance C (D, D): a scalar.

    Kumar et al. 2018, eq. 6 and 7, divided by :math:`\lambda_{od}`, which is the weight of the term.
    """
    variances = covariance.diagonal()  # (D,)
    off_diagonal = covariance - torch.diag(variances)  # subtracting a sum of squares would lose digits
    return off_diagonal.square().sum() + diagonal * (variances - 1).square().sum()


def mean_covariance(mean: Tensor) -> Tensor:
    """Compute the biased covariance (D, D) of posterior means (B, D), for DIP-VAE-I."""
    centred = mean - mean.mean(0)
    with full_precision(mean):
        return centred.T @ centred / len(mean)


def code_covariance(mean: Tensor, logvar: Tensor) -> Tensor:
    """Compute the covariance (D, D) of codes sampled from posteriors (B, D), for DIP-VAE-II."""
    return mean_covariance(mean) + torch.diag(logvar.exp().mean(0))


class DIP(Term):
    """The squared distance between the covariance of codes and the identity."""

    title: ClassVar[str] = "the dip term"
    formula: ClassVar[str] = (
        r"$\sum_{i \ne j} C_{ij}^2 + \text{diagonal} \cdot \sum_i (C_{ii} - 1)^2$, "
        r"$C = \text{Cov}(\mu)$ (i) or $\text{Cov}(\mu) + E[\text{diag} \sigma^2]$ (ii)"
    )
    paper: ClassVar[str] = "Kumar et al. 2018, sec. 3, eq. 6 and 7"
    latents: ClassVar[tuple[type[Latent], ...]] = (Gaussian,)
    why: ClassVar[str] = "it matches the covariance of a Gaussian posterior to that of the prior"
    kind: Literal["i", "ii"] = "i"
    diagonal: float | None = Field(default=None, ge=0)  # λ_d / λ_od; None: 10 for i, 1 for ii

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the penalty from the posteriors of the batch."""
        mean, logvar = posterior(self.title, forward.code)
        covariance = mean_covariance(mean) if self.kind == "i" else code_covariance(mean, logvar)
        return dip_penalty(covariance, diagonal=DIAGONAL[self.kind] if self.diagonal is None else self.diagonal)
