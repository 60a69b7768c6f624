"""Metrics of Gaussian posteriors, without labels: KL divergence per latent, active units, evidence lower bound.

``mean`` and ``logvar`` (N, D) are those of the posteriors; the prior is standard normal.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

from unweave.errors import InputError
from unweave.metrics.reconstruction import check_images
from unweave.metrics.scoring.inputs import Codes, Floats, check_any_codes, check_codes
from unweave.metrics.scoring.sparse_codes import SparseCodes
from unweave.metrics.scoring.vectors import Groups, columns_of, summed
from unweave.settings import NonNegative

ACTIVE_VARIANCE = 0.01  # of the posterior mean over the data, above which a latent is active (Burda et al. 2016)
LARGEST = 700.0  # a variance of 1e304; sums of larger ones would overflow


@dataclass(frozen=True, eq=False)
class KL:
    """The KL divergence in nats, summed over latents and per latent (D,)."""

    score: float
    per_latent: Floats


def kl_per_latent(mean: Codes, logvar: Codes, *, groups: Groups = None) -> KL:
    r"""Compute the mean over samples of :math:`\frac12 (\mu^2 + \sigma^2 - \log \sigma^2 - 1)` per latent.

    The score is the sum over latents.

    Args:
        mean: The means of the Gaussian posteriors (N, D).
        logvar: The logarithms of their variances (N, D).
        groups: The columns of each latent that is a vector, or the number of columns per latent; their divergences are
            summed.

    Returns:
        The sum, and the divergence of each latent.

    Examples:
        >>> import torch
        >>> from unweave.metrics import kl_per_latent
        >>> kl_per_latent(torch.tensor([[2.0, 0.0]]), torch.zeros(1, 2)).score  # half of the squared mean
        2.0
    """
    m, s = _posterior("kl_per_latent", mean, logvar)
    per_column = 0.5 * (m**2 + np.exp(s) - s - 1).mean(0)
    per_latent = summed(per_column, columns_of("kl_per_latent", groups, len(per_column)))
    return KL(float(per_latent.sum()), per_latent)


@dataclass(frozen=True, eq=False)
class ActiveUnits:
    """The number of active latents, and the variance of the posterior mean of each latent (D,)."""

    score: int
    variance: Floats


def active_units(mean: Codes, *, threshold: NonNegative = ACTIVE_VARIANCE) -> ActiveUnits:
    """Count the latents whose posterior mean has a variance above ``threshold`` over the data (Burda et al. 2016).

    Examples:
        >>> import torch
        >>> from unweave.metrics import active_units
        >>> means = torch.tensor([[1.0, 0.01], [-1.0, -0.01]])  # of two images; the second latent hardly moves
        >>> active_units(means).score
        1
    """
    if not isinstance(threshold, Real) or not threshold >= 0:
        raise InputError(f"active_units: threshold must be a number of at least 0, got {threshold!r}.")
    codes = check_any_codes("active_units", mean)
    if isinstance(codes, SparseCodes):
        variance: Floats = codes.moments[1] * len(codes) / (len(codes) - 1)
    else:
        variance = codes.var(0, ddof=1)
    return ActiveUnits(int((variance > threshold).sum()), variance)


@dataclass(frozen=True)
class ELBO:
    """The bound in nats per image, and its two parts."""

    score: float
    log_likelihood: float
    kl: float


def elbo(
    images: Any,
    reconstructions: Any,
    mean: Codes,
    logvar: Codes,
    *,
    likelihood: Literal["bernoulli", "continuous_bernoulli", "gaussian", "laplace"] = "bernoulli",
) -> ELBO:
    """Compute the mean log-likelihood of images given reconstructions, summed over pixels, minus the KL divergence.

    Args:
        images: Images (N, …), floats in [0, 1] or uint8.
        reconstructions: Their reconstructions, of the same shape and kind.
        mean: The means of the Gaussian posteriors (N, D).
        logvar: The logarithms of their variances (N, D).
        likelihood: ``"bernoulli"`` interprets reconstructions as probabilities, clipped to [1e-7, 1 − 1e-7];
            ``"gaussian"`` as means, with variance 1; ``"laplace"`` as medians, with scale 1; ``"continuous_bernoulli"``
            as means, from 0.001 to 0.999.

    Returns:
        The bound in nats per image, with its two parts.

    Examples:
        >>> import math, torch
        >>> from unweave.metrics import elbo
        >>> half = torch.full((1, 1, 2, 2), 0.5)
        >>> result = elbo(torch.ones(1, 1, 2, 2), half, torch.zeros(1, 1), torch.zeros(1, 1))
        >>> round(result.score / math.log(2), 2)  # one bit for each of four pixels, and no divergence
        -4.0
    """
    x, y = check_images("elbo", images, reconstructions)
    if len(check_codes("elbo", mean, rows=1)) != len(x):
        raise InputError(f"elbo: got {len(x)} images but {len(check_codes('elbo', mean, rows=1))} posteriors.")
    kl = kl_per_latent(mean, logvar).score
    if likelihood == "bernoulli":
        y = y.clip(1e-7, 1 - 1e-7)
        fit = (x * np.log(y) + (1 - x) * np.log1p(-y)).sum(1).mean()
    elif likelihood == "continuous_bernoulli":
        fit = _continuous_bernoulli(x, y.clip(1e-3, 1 - 1e-3)).sum(1).mean()
    elif likelihood == "laplace":
        fit = (-np.abs(x - y) - np.log(2)).sum(1).mean()
    elif likelihood == "gaussian":
        fit = (-0.5 * (x - y) ** 2 - 0.5 * np.log(2 * np.pi)).sum(1).mean()
    else:
        raise InputError(
            "elbo: likelihood must be 'bernoulli', 'continuous_bernoulli', 'gaussian' or 'laplace', "
            f"got {likelihood!r}."
        )
    return ELBO(float(fit) - kl, float(fit), kl)


def _continuous_bernoulli(images: Floats, means: Floats) -> Floats:
    """Return the log-density of each pixel; the logit of a mean is found by bisection."""
    low, high = np.full(means.shape, -1100.0), np.full(means.shape, 1100.0)
    for _ in range(60):
        logit = (low + high) / 2
        logit = np.where(np.abs(logit) < 1e-9, 1e-9, logit)
        with np.errstate(over="ignore"):
            above = -1 / np.expm1(-logit) - 1 / logit > means
        low, high = np.where(above, low, logit), np.where(above, logit, high)
    logit = np.where(np.abs(logit) < 1e-6, 1e-6, logit)
    return images * logit - np.logaddexp(0, logit) + np.log(logit / np.tanh(logit / 2))


def _posterior(metric: str, mean: Codes, logvar: Codes) -> tuple[Floats, Floats]:
    m, s = check_codes(metric, mean, rows=1), check_codes(metric, logvar, rows=1)
    if m.shape != s.shape:
        raise InputError(f"{metric}: mean has shape {m.shape} but logvar has shape {s.shape}.")
    if s.max() > LARGEST:
        raise InputError(
            f"{metric}: logvar reaches {s.max():.4g}, whose exponential is too large for a float; "
            "pass log-variances, not variances or standard deviations."
        )
    return m, s
