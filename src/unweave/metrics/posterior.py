"""What the posterior holds, without labels: KL a latent, active units, the evidence lower bound.

``mean`` and ``logvar`` (N, D) are those of a Gaussian posterior against a standard normal prior.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

from unweave.errors import InputError
from unweave.metrics.inputs import Codes, Floats, check_codes
from unweave.metrics.reconstruction import check_images

LARGEST = 700.0  # a variance of 1e304; sums of a few more would not be finite


@dataclass(frozen=True, eq=False)
class KL:
    """The sum over latents of the mean KL, nats, and each latent's (D,)."""

    score: float
    per_latent: Floats


def kl_per_latent(mean: Codes, logvar: Codes) -> KL:
    r"""Mean over samples of :math:`\frac12 (\mu^2 + \sigma^2 - \log \sigma^2 - 1)`."""
    m, s = _posterior("kl_per_latent", mean, logvar)
    per_latent = 0.5 * (m**2 + np.exp(s) - s - 1).mean(0)
    return KL(float(per_latent.sum()), per_latent)


@dataclass(frozen=True, eq=False)
class ActiveUnits:
    """How many latents are active, and the variance of each latent's mean (D,)."""

    score: int
    variance: Floats


def active_units(mean: Codes, *, threshold: float = 0.01) -> ActiveUnits:
    """How many latents' posterior means vary by more than ``threshold`` over the data (Burda et al. 2016)."""
    if not isinstance(threshold, Real) or not threshold >= 0:
        raise InputError(f"active_units: threshold must be at least 0, got {threshold!r}.")
    variance = check_codes("active_units", mean).var(0, ddof=1)
    return ActiveUnits(int((variance > threshold).sum()), variance)


@dataclass(frozen=True)
class ELBO:
    """The bound in nats an image, and its two parts."""

    score: float
    log_likelihood: float
    kl: float


def elbo(
    images: Any,
    reconstructions: Any,
    mean: Codes,
    logvar: Codes,
    *,
    likelihood: Literal["bernoulli", "gaussian"] = "bernoulli",
) -> ELBO:
    """Mean log-likelihood of the images under their reconstructions, summed over pixels, minus the KL.

    Images and reconstructions are floats in [0, 1] (or uint8), (N, …). ``"bernoulli"`` takes reconstructions as
    probabilities, kept 1e-7 from 0 and 1; ``"gaussian"`` takes them as means with variance 1.
    """
    x, y = check_images("elbo", images, reconstructions)
    if len(check_codes("elbo", mean, rows=1)) != len(x):
        raise InputError(f"elbo: there are {len(x)} images and {len(check_codes('elbo', mean, rows=1))} posteriors.")
    kl = kl_per_latent(mean, logvar).score
    if likelihood == "bernoulli":
        y = y.clip(1e-7, 1 - 1e-7)
        fit = (x * np.log(y) + (1 - x) * np.log1p(-y)).sum(1).mean()
    elif likelihood == "gaussian":
        fit = (-0.5 * (x - y) ** 2 - 0.5 * np.log(2 * np.pi)).sum(1).mean()
    else:
        raise InputError(f"elbo: likelihood must be 'bernoulli' or 'gaussian', got {likelihood!r}.")
    return ELBO(float(fit) - kl, float(fit), kl)


def _posterior(metric: str, mean: Codes, logvar: Codes) -> tuple[Floats, Floats]:
    m, s = check_codes(metric, mean, rows=1), check_codes(metric, logvar, rows=1)
    if m.shape != s.shape:
        raise InputError(f"{metric}: mean has shape {m.shape} and logvar {s.shape}.")
    if s.max() > LARGEST:
        raise InputError(
            f"{metric}: logvar goes up to {s.max():.4g}, and its exponential beyond what a float can hold."
        )
    return m, s
