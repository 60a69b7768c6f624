"""Total correlation: how far are the latents from independent, if they were Gaussian?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.errors import InputError
from unweave.metrics.inputs import Codes, Floats, check_codes, check_seed, dead, standardised


@dataclass(frozen=True, eq=False)
class TotalCorrelation:
    """The score in nats, and the covariance (D, D) it comes from."""

    score: float
    covariance: Floats


def total_correlation(codes: Codes, *, logvar: Codes | None = None, seed: int = 0) -> TotalCorrelation:
    r"""KL of a Gaussian with the codes' covariance from the product of its marginals (Locatello et al. 2019, sec. 5.2).

    :math:`\frac12 (\sum_j \log \Sigma_{jj} - \log \det \Sigma)`, 0 for uncorrelated latents. Given ``logvar`` (N, D),
    the codes are posterior means, and samples of the posterior are measured instead. Constant latents are independent
    of all and left out, where disentanglement_lib gives NaN; latents that determine one another give infinity.
    """
    values = sampled("total_correlation", codes, logvar, seed)
    covariance = np.atleast_2d(np.cov(values, rowvar=False, ddof=1))
    (scaled,) = standardised(values[:, ~dead(values)])
    if not scaled.shape[1]:
        return TotalCorrelation(0.0, covariance)
    eigenvalues = np.linalg.eigvalsh(scaled.T @ scaled / len(scaled))  # of the correlations: the log-determinant
    if eigenvalues.min() <= 1e-12:
        return TotalCorrelation(float("inf"), covariance)
    return TotalCorrelation(float(max(0.0, -0.5 * np.log(eigenvalues).sum())), covariance)


def sampled(metric: str, codes: Codes, logvar: Codes | None, seed: int) -> Floats:
    """The codes, or, where ``logvar`` is given, samples of the posteriors whose means they are."""
    mean = check_codes(metric, codes)
    if logvar is None:
        return mean
    spread = check_codes(metric, logvar)
    if spread.shape != mean.shape:
        raise InputError(f"{metric}: codes have shape {mean.shape} and logvar {spread.shape}.")
    if spread.max() > 200:
        raise InputError(f"{metric}: logvar reaches {spread.max():.0f}, a variance too large to be drawn from.")
    return mean + np.exp(spread / 2) * np.random.default_rng(check_seed(seed)).standard_normal(mean.shape)
