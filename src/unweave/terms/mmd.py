"""Maximum mean discrepancy: do the codes of a batch look like samples from the prior? (InfoVAE)."""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from unweave.latents import Deterministic, Gaussian, Latent
from unweave.model import Forward
from unweave.terms.term import Term

Kernel = Literal["rbf", "imq"]


def maximum_mean_discrepancy(codes: Tensor, prior: Tensor, *, kernel: Kernel = "rbf", variance: float = 2.0) -> Tensor:
    r"""Compute :math:`E[k(p, p')] - 2 E[k(p, z)] + E[k(z, z')]` of codes z and samples p of the prior, (B, D) each.

    Zhao et al. 2017, sec. 3; unbiased, over pairs of different samples (Dziugaite et al. 2015, eq. 8).

    Args:
        codes: The codes (B, D).
        prior: Samples of the prior (B, D).
        kernel: With s = 2 · variance · D, ``"rbf"`` is :math:`\exp(-\|x - y\|^2 / s)` and ``"imq"`` is
            :math:`s / (s + \|x - y\|^2)`.
        variance: The variance in the scale of the kernel.

    Returns:
        A scalar, which may be negative.
    """
    rows, latents = codes.shape
    scale = 2 * variance * latents

    def values(one: Tensor, other: Tensor) -> Tensor:
        distances = (one[:, None] - other).square().sum(-1)  # (B, B)
        return (-distances / scale).exp() if kernel == "rbf" else scale / (scale + distances)

    def apart(samples: Tensor) -> Tensor:
        return (values(samples, samples).sum() - rows) / max(1, rows * (rows - 1))  # k(x, x) = 1

    return apart(prior) - 2 * values(prior, codes).mean() + apart(codes)


class MMD(Term):
    """The distance of the aggregate posterior from a standard normal, through a kernel."""

    title: ClassVar[str] = "the mmd term"
    formula: ClassVar[str] = r"$E[k(p, p')] - 2 E[k(p, z)] + E[k(z, z')]$, $p \sim N(0, 1)$"
    paper: ClassVar[str] = "Zhao et al. 2017 (InfoVAE), sec. 3; the kernel of Disent"
    latents: ClassVar[tuple[type[Latent], ...]] = (Gaussian, Deterministic)
    why: ClassVar[str] = "its prior is a standard normal"
    kernel: Kernel = "rbf"
    variance: float = Field(default=2.0, gt=0)  # of the kernel, per latent

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the term from the codes of the batch and as many samples of the prior."""
        z = forward.code.z
        prior = torch.randn(z.shape, generator=forward.generator, device=z.device, dtype=z.dtype)
        return maximum_mean_discrepancy(z, prior, kernel=self.kernel, variance=self.variance)
