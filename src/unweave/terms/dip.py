"""Disentangled inferred prior: do the codes have the covariance of the prior? (DIP-VAE-I and -II)."""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from unweave.latents import Gaussian, Latent
from unweave.model import Forward
from unweave.terms.gaussians import posterior
from unweave.terms.term import Term

DIAGONAL = {"i": 10.0, "ii": 1.0}  # λ_d / λ_od as published for each kind


def dip_penalty(covariance: Tensor, *, diagonal: float) -> Tensor:
    r""":math:`\sum_{i \ne j} C_{ij}^2 + diagonal \sum_i (C_{ii} - 1)^2` of a covariance (D, D): a scalar.

    Kumar et al. 2018, eq. 6 and 7, divided by :math:`\lambda_{od}`, which is the term's weight.
    """
    variances = covariance.diagonal()  # (D,)
    off_diagonal = covariance - torch.diag(variances)  # subtracting a sum of squares would lose digits
    return off_diagonal.square().sum() + diagonal * (variances - 1).square().sum()


def mean_covariance(mean: Tensor) -> Tensor:
    """Biased covariance (D, D) over the batch of posterior means (B, D): DIP-VAE-I."""
    centred = mean - mean.mean(0)
    return centred.T @ centred / len(mean)


def code_covariance(mean: Tensor, logvar: Tensor) -> Tensor:
    """Covariance (D, D) of codes drawn from posteriors (B, D): the means' plus the mean variances. DIP-VAE-II."""
    return mean_covariance(mean) + torch.diag(logvar.exp().mean(0))


class DIP(Term):
    """The distance of the codes' covariance from the identity."""

    title: ClassVar[str] = "the dip term"
    formula: ClassVar[str] = "Σ_{i≠j} C_ij² + diagonal · Σᵢ (C_ii − 1)², C = Cov(μ) (i) or Cov(μ) + E[diag σ²] (ii)"
    paper: ClassVar[str] = "Kumar et al. 2018, sec. 3, eq. 6 and 7"
    latents: ClassVar[tuple[type[Latent], ...]] = (Gaussian,)
    why: ClassVar[str] = "it matches the covariance of a Gaussian posterior to the prior's"
    kind: Literal["i", "ii"] = "i"
    diagonal: float | None = Field(default=None, ge=0)  # λ_d / λ_od; None: 10 for i, 1 for ii

    def __call__(self, batch: Forward) -> Tensor:
        """Of the batch's posteriors."""
        mean, logvar = posterior(self.title, batch.code)
        covariance = mean_covariance(mean) if self.kind == "i" else code_covariance(mean, logvar)
        return dip_penalty(covariance, diagonal=DIAGONAL[self.kind] if self.diagonal is None else self.diagonal)
