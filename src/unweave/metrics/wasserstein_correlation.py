"""Wasserstein correlation: how far must Gaussian codes be moved to become independent?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.metrics.inputs import Codes, dead
from unweave.metrics.total_correlation import sampled


@dataclass(frozen=True)
class WassersteinCorrelation:
    """The score, and the same as a share of the codes' total variance."""

    score: float
    normalised: float


def wasserstein_correlation(codes: Codes, *, logvar: Codes | None = None, seed: int = 0) -> WassersteinCorrelation:
    r"""Squared 2-Wasserstein distance of a Gaussian with the codes' covariance from the product of its marginals.

    :math:`2 \operatorname{tr} \Sigma - 2 \operatorname{tr} (\Delta^{1/2} \Sigma \Delta^{1/2})^{1/2}` with
    :math:`\Delta = \operatorname{diag} \Sigma` (Watters et al. 2019; disentanglement_lib). 0 for uncorrelated or dead
    codes. ``logvar`` as in :func:`total_correlation`.
    """
    values = sampled("wasserstein_correlation", codes, logvar, seed)
    scale = float(np.max(values.std(0), initial=0.0, where=~dead(values)))
    if scale == 0:
        return WassersteinCorrelation(0.0, 0.0)
    values = np.where(dead(values), 0.0, (values - values.mean(0)) / scale)  # the products below are fourth powers
    covariance = np.atleast_2d(np.cov(values, rowvar=False, ddof=1))
    root = np.sqrt(np.diag(covariance))
    eigenvalues = np.linalg.eigvalsh(covariance * np.outer(root, root)).clip(min=0)
    total = float(np.trace(covariance))
    distance = max(0.0, 2 * total - 2 * float(np.sqrt(eigenvalues).sum()))
    return WassersteinCorrelation(distance * scale**2, distance / total)
