"""Total correlation: how far from independent are the latents, treated as Gaussian?"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np

from unweave.errors import InputError
from unweave.metrics.scoring.inputs import Codes, Floats, check_codes, check_seed, dead, standardised
from unweave.metrics.scoring.vectors import Groups, principal
from unweave.settings import NonNegative, Seed

RIDGE = 1e-5  # Locatello et al. 2019, footnote 3


@dataclass(frozen=True, eq=False)
class TotalCorrelation:
    """The score in nats, and the covariance (D, D) of the codes, without the ridge."""

    score: float
    covariance: Floats


def total_correlation(
    codes: Codes, *, logvar: Codes | None = None, ridge: NonNegative = RIDGE, seed: Seed = 0
) -> TotalCorrelation:
    r"""Compute the KL divergence between a Gaussian with the codes' covariance and the product of its marginals.

    :math:`\frac12 (\sum_j \log \Sigma_{jj} - \log \det \Sigma)` in nats. Uncorrelated latents score 0. Constant latents
    count as independent of all others, where disentanglement_lib returns NaN. Latents that determine each other score
    infinity if there is no ridge, or if it is too small to matter.

    Args:
        codes: The codes (N, D).
        logvar: The logarithms of the posteriors' variances (N, D). If given, the codes are posterior means and samples
            from the posterior are scored (see :func:`total_correlation_sampled`).
        ridge: What is added to the diagonal of :math:`\Sigma`, 1e-5 in Locatello et al. 2019, sec. 5.2 and footnote 3.
            It decides the score of collapsed latents, whose variance is far below it; with 0 the score does not depend
            on the scale of the codes, as in disentanglement_lib.
        seed: The seed of the samples from the posterior.

    Returns:
        The total correlation in nats, and the covariance of the codes.

    Examples:
        >>> import torch
        >>> from unweave.metrics import total_correlation
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> round(total_correlation(factors.float()).score, 2)  # independent latents
        0.0
        >>> round(total_correlation(factors @ torch.tensor([[1, 1], [0, 1]])).score, 2)
        0.48
    """
    if not isinstance(ridge, Real) or not 0 <= ridge < np.inf:
        raise InputError(f"total_correlation: ridge must be a number of at least 0, got {ridge!r}.")
    values = sampled("total_correlation", codes, logvar, seed)
    covariance = np.atleast_2d(np.cov(values, rowvar=False, ddof=1))
    alive = ~dead(values)
    (scaled,) = standardised(values[:, alive])
    variance = np.diag(covariance)[alive]
    shrink = np.sqrt(variance / (variance + ridge)) if ridge > 0 else np.ones(len(variance))
    correlation = scaled.T @ scaled / len(scaled) * np.outer(shrink, shrink)  # of the covariance with its ridge
    np.fill_diagonal(correlation, 1.0)
    eigenvalues = np.linalg.eigvalsh(correlation)
    if eigenvalues.min(initial=1.0) <= 1e-12:
        return TotalCorrelation(float("inf"), covariance)
    return TotalCorrelation(float(max(0.0, -0.5 * np.log(eigenvalues).sum())), covariance)


def total_correlation_sampled(
    mean: Codes, logvar: Codes, *, ridge: NonNegative = RIDGE, groups: Groups = None, seed: Seed = 0
) -> TotalCorrelation:
    """Compute the total correlation of samples from Gaussian posteriors, one per image.

    Locatello et al. 2019, sec. 5.2; see :func:`total_correlation` for the formula.

    Args:
        mean: The means of the posteriors (N, D).
        logvar: The logarithms of their variances (N, D).
        ridge: What is added to the diagonal of the covariance.
        groups: The columns of each latent that is a vector, or the number of columns per latent; each is replaced by
            the first principal component of the samples.
        seed: The seed of the samples.

    Returns:
        The total correlation in nats, and the covariance of the codes.

    Examples:
        >>> import torch
        >>> from unweave.metrics import total_correlation_sampled
        >>> mean = torch.randn(10_000, 1, generator=torch.Generator().manual_seed(0)).repeat(1, 2)
        >>> round(total_correlation_sampled(mean, torch.zeros(10_000, 2)).score, 2)  # log(2) - log(3) / 2
        0.14
    """
    codes = sampled("total_correlation_sampled", mean, logvar, seed)
    return total_correlation(principal("total_correlation_sampled", codes, groups), ridge=ridge)


def sampled(metric: str, codes: Codes, logvar: Codes | None, seed: int) -> Floats:
    """Return the codes, or, if ``logvar`` is given, one sample per posterior with the codes as means.

    Args:
        metric: The metric, for messages.
        codes: The codes, or means of the posteriors (N, D).
        logvar: The logarithms of their variances (N, D); None for codes that are not sampled.
        seed: The seed of the samples.

    Returns:
        The codes (N, D), float64.
    """
    mean = check_codes(metric, codes)
    if logvar is None:
        return mean
    spread = check_codes(metric, logvar)
    if spread.shape != mean.shape:
        raise InputError(f"{metric}: codes have shape {mean.shape} but logvar has shape {spread.shape}.")
    if spread.max() > 200:
        raise InputError(f"{metric}: logvar reaches {spread.max():.0f}, a variance too large to sample from.")
    return mean + np.exp(spread / 2) * np.random.default_rng(check_seed(seed)).standard_normal(mean.shape)
