"""Formulas of diagonal Gaussians that several terms share. Means and log-variances are (B, D)."""

from __future__ import annotations

import math

from torch import Tensor

from unweave.errors import InputError
from unweave.latents import Code


def posterior(title: str, code: Code) -> tuple[Tensor, Tensor]:
    """Return mean and log-variance (B, D) of a code's posterior, or raise an error that names what needs them."""
    if code.logvar is None:
        raise InputError(f"{title} needs a Gaussian posterior, which this code does not have.")
    return code.continuous, code.logvar


def kl_to_prior(mean: Tensor, logvar: Tensor) -> Tensor:
    r"""Compute the KL from a standard normal, :math:`\frac12 (\mu^2 + \sigma^2 - \log \sigma^2 - 1)`, in nats (B, D).

    ``expm1`` keeps the digits of posteriors that are close to the prior.
    """
    return 0.5 * (mean.square() + logvar.expm1() - logvar)


def kl_between(mean: Tensor, logvar: Tensor, other_mean: Tensor, other_logvar: Tensor) -> Tensor:
    r"""Compute the KL of one Gaussian from another per latent, in nats (B, D).

    :math:`\frac12 (\sigma_1^2 / \sigma_2^2 - 1 - \log (\sigma_1^2 / \sigma_2^2) + (\mu_1 - \mu_2)^2 / \sigma_2^2)`; the
    variances enter as a difference of logarithms, so that none of them over- or underflows by itself.

    Args:
        mean: The means of the first (B, D).
        logvar: The logarithms of its variances (B, D).
        other_mean: The means of the second (B, D).
        other_logvar: The logarithms of its variances (B, D).

    Returns:
        The divergences (B, D).
    """
    ratio = logvar - other_logvar  # log of the variances' ratio
    return 0.5 * (ratio.expm1() - ratio + _distance(mean, other_mean, other_logvar))


def log_density(z: Tensor, mean: Tensor, logvar: Tensor) -> Tensor:
    """Compute the log-density of each latent under its own Gaussian, elementwise, in nats; shapes broadcast."""
    return -0.5 * (_distance(z, mean, logvar) + logvar + math.log(2 * math.pi))


def _distance(z: Tensor, mean: Tensor, logvar: Tensor) -> Tensor:
    return ((z - mean) * (-0.5 * logvar).exp()).square()  # divided before squaring, to avoid overflow
