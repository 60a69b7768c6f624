"""Adaptive grouping: latents that the two images of a pair seem to share get one posterior (Ada-GVAE, Ada-ML-VAE)."""

from __future__ import annotations

import math
from dataclasses import replace
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
    """Return which latents (n, D) bool each pair shares: those with a divergence below the middle of its range.

    The divergence is ½ KL(q₁ ‖ q₂) + ½ KL(q₂ ‖ q₁) (Michlo et al. 2023, app. B.2, eq. 14), or KL(q₁ ‖ q₂) alone
    (Locatello et al. 2020). The middle is that of the smallest and largest divergence of the pair. If all divergences
    are equal, none is below the middle and no latent is shared.
    """
    (m1, m2), (l1, l2) = means, logvars
    divergence = kl_between(m1, l1, m2, l2)  # (n, D)
    if symmetric:
        divergence = 0.5 * (divergence + kl_between(m2, l2, m1, l1))
    return below(divergence)


def below(distances: Tensor, ratio: float = 0.5) -> Tensor:
    """Return which of the distances (n, D) are below the middle of the smallest and the largest of their row.

    ``ratio`` moves the threshold from the smallest, 0, to the largest, 1.
    """
    least, greatest = distances.aminmax(dim=1, keepdim=True)  # (n, 1) each
    return distances < least + ratio * (greatest - least)


def average(means: Pair, logvars: Pair) -> Grouped:
    """Average the means and the variances (GVAE)."""
    return 0.5 * (means[0] + means[1]), torch.logaddexp(*logvars) - math.log(2)


def product(means: Pair, logvars: Pair) -> Grouped:
    r"""Multiply the two Gaussians, normalise, and double the variance (ML-VAE).

    :math:`v = 2 v_1 v_2 / (v_1 + v_2)` and :math:`\mu = \frac12 (\mu_1 / v_1 + \mu_2 / v_2) v`, where the first mean
    has the weight :math:`v_2 / (v_1 + v_2)`, a sigmoid of log-variances. disentanglement_lib doubles it, too.
    """
    weight = (logvars[1] - logvars[0]).sigmoid()  # (n, D)
    return weight * means[0] + (1 - weight) * means[1], math.log(2) - torch.logaddexp(-logvars[0], -logvars[1])


class AdaptiveGrouping(Settings):
    """Replaces the posteriors of shared latents by a common one before codes are sampled. Not a term of the loss.

    Locatello et al. 2020; Michlo et al. 2023, app. B.2. Rows i and n + i of a batch of 2n are a pair, and each image
    of a pair still samples its own code. The gradient passes through the grouped posteriors, but not through the
    choice of shared latents.

    ``kind="exchange"`` is for latents without a posterior, and in no paper: the latents of a pair whose values before
    rounding are closest, by the same rule for squared differences, exchange their values. Quantised codes stay
    quantised, and each image is reconstructed with the other's values. ``kind="average"`` is Disent's Ada-AE: the
    closest latents of an autoencoder, by the same rule for absolute differences, take the mean of their values.
    """

    title: ClassVar[str] = "the adaptive grouping"
    kind: Literal["gvae", "mlvae", "exchange", "average"] = "gvae"  # how shared latents are combined
    divergence: Literal["symmetric", "one_way"] = "symmetric"  # one_way: as published in 2020

    def __call__(self, code: Code, generator: torch.Generator | None) -> Code:
        """Sample codes (2n, D) from the grouped posteriors, or take their means if ``generator`` is None."""
        if len(code.z) % 2:
            raise InputError(f"{self.title} needs pairs, so an even number of images, got {len(code.z)}.")
        n = len(code.z) // 2
        difference = (code.continuous[:n] - code.continuous[n:]).detach()
        if self.kind == "exchange":
            shared = below(difference.square()).repeat(2, 1)
            return replace(code, z=torch.where(shared, code.z.roll(n, dims=0), code.z))
        if self.kind == "average":
            shared = below(difference.abs()).repeat(2, 1)
            return replace(code, z=torch.where(shared, 0.5 * (code.z + code.z.roll(n, dims=0)), code.z))
        mean, logvar = posterior(self.title, code)
        means, logvars = (mean[:n], mean[n:]), (logvar[:n], logvar[n:])
        with torch.no_grad():
            shared = shared_latents(means, logvars, symmetric=self.divergence == "symmetric").repeat(2, 1)  # (2n, D)
        joined_mean, joined_logvar = (average if self.kind == "gvae" else product)(means, logvars)  # (n, D) each
        grouped_mean = torch.where(shared, joined_mean.repeat(2, 1), mean)
        return draw(grouped_mean, torch.where(shared, joined_logvar.repeat(2, 1), logvar), generator)
