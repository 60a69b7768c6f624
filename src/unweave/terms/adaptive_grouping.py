"""Adaptive grouping: the latents that two images of a pair seem to share are made the same (Ada-GVAE, Ada-ML-VAE)."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import torch
from torch import Tensor

from unweave.errors import InputError
from unweave.latents import Code
from unweave.latents.gaussian import draw
from unweave.settings import Settings
from unweave.terms.gaussians import kl_between, posterior

Pair = tuple[Tensor, Tensor]  # of one quantity, (n, D) for the first images and (n, D) for the second
Grouped = tuple[Tensor, Tensor]  # mean and log-variance (n, D)


def shared_latents(means: Pair, logvars: Pair, *, symmetric: bool = True) -> Tensor:
    """Which latents (n, D) bool a pair shares: those whose divergence is below halfway from its least to its greatest.

    The divergence is ½ KL(q₁ ‖ q₂) + ½ KL(q₂ ‖ q₁) (Michlo et al. 2023, app. B.2, eq. 14) or KL(q₁ ‖ q₂) alone
    (Locatello et al. 2020). Where all of them are equal, none is below, and every latent is kept as it is:
    there is nothing to tell the shared from the changed.
    """
    (m1, m2), (l1, l2) = means, logvars
    divergence = kl_between(m1, l1, m2, l2)  # (n, D)
    if symmetric:
        divergence = 0.5 * (divergence + kl_between(m2, l2, m1, l1))
    least, greatest = divergence.aminmax(dim=1, keepdim=True)  # (n, 1) each
    return divergence < least + 0.5 * (greatest - least)


def average(means: Pair, logvars: Pair) -> Grouped:
    """The mean of the means and the mean of the variances: GVAE."""
    return 0.5 * (means[0] + means[1]), torch.logaddexp(*logvars) - math.log(2)


def product(means: Pair, logvars: Pair) -> Grouped:
    r"""The normalised product of the two Gaussians with twice its variance: ML-VAE.

    :math:`v = 2 v_1 v_2 / (v_1 + v_2)` and :math:`\mu = \frac12 (\mu_1 / v_1 + \mu_2 / v_2) v`, in which the first mean
    has the weight :math:`v_2 / (v_1 + v_2)`, a sigmoid of log-variances. The doubled variance is disentanglement_lib's.
    """
    weight = (logvars[1] - logvars[0]).sigmoid()  # (n, D)
    return weight * means[0] + (1 - weight) * means[1], math.log(2) - torch.logaddexp(-logvars[0], -logvars[1])


class AdaptiveGrouping(Settings):
    """Makes the posteriors of pairs agree where they nearly do, before codes are drawn: not a term of the loss.

    Locatello et al. 2020; Michlo et al. 2023, app. B.2. Rows i and n + i of a batch of 2n are a pair, and each image
    of a pair still draws a code of its own. The gradient passes through the grouped posteriors, and not through the
    choice of what is shared.
    """

    title: ClassVar[str] = "the adaptive grouping"
    kind: Literal["gvae", "mlvae"] = "gvae"  # how shared posteriors are joined
    divergence: Literal["symmetric", "one_way"] = "symmetric"  # one_way as published in 2020

    def __call__(self, code: Code, generator: torch.Generator | None) -> Code:
        """The code (2n, D) drawn from the regrouped posteriors; without a generator, their means."""
        mean, logvar = posterior(self.title, code)
        if len(mean) % 2:
            raise InputError(f"{self.title} needs pairs, an even number of rows, got {len(mean)}.")
        n = len(mean) // 2
        means, logvars = (mean[:n], mean[n:]), (logvar[:n], logvar[n:])
        with torch.no_grad():
            shared = shared_latents(means, logvars, symmetric=self.divergence == "symmetric").repeat(2, 1)  # (2n, D)
        joined_mean, joined_logvar = (average if self.kind == "gvae" else product)(means, logvars)  # (n, D) each
        grouped_mean = torch.where(shared, joined_mean.repeat(2, 1), mean)
        return draw(grouped_mean, torch.where(shared, joined_logvar.repeat(2, 1), logvar), generator)
