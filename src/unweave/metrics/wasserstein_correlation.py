"""Wasserstein correlation: how far are Gaussian codes from independent ones, in squared distance?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.metrics.scoring.inputs import Codes, dead
from unweave.metrics.total_correlation import sampled
from unweave.settings import Seed


@dataclass(frozen=True)
class WassersteinCorrelation:
    """The score, and the score divided by the total variance of the codes."""

    score: float
    normalised: float


def wasserstein_correlation(codes: Codes, *, logvar: Codes | None = None, seed: Seed = 0) -> WassersteinCorrelation:
    r"""Compute the squared 2-Wasserstein distance between the Gaussian of the codes and the product of its marginals.

    :math:`2 \operatorname{tr} \Sigma - 2 \operatorname{tr} (\Delta^{1/2} \Sigma \Delta^{1/2})^{1/2}` with the
    covariance :math:`\Sigma` of the codes and :math:`\Delta = \operatorname{diag} \Sigma`, as in disentanglement_lib,
    the code of Locatello et al. 2019. There is no ridge on the diagonal, neither there nor here: no logarithm is taken,
    and collapsed latents contribute little. Uncorrelated or constant codes score 0. ``logvar`` works as in
    :func:`total_correlation`.

    Examples:
        >>> import torch
        >>> from unweave.metrics import wasserstein_correlation
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> round(wasserstein_correlation(factors.float()).score, 2)  # independent latents
        0.0
        >>> round(wasserstein_correlation(factors @ torch.tensor([[1, 1], [0, 1]])).score, 2)
        0.99
    """
    values = sampled("wasserstein_correlation", codes, logvar, seed)
    scale = float(np.max(values.std(0), initial=0.0, where=~dead(values)))
    if scale == 0:
        return WassersteinCorrelation(0.0, 0.0)
    values = np.where(
        dead(values), 0.0, (values - values.mean(0)) / scale
    )  # products below are fourth powers of the codes
    covariance = np.atleast_2d(np.cov(values, rowvar=False, ddof=1))
    root = np.sqrt(np.diag(covariance))
    eigenvalues = np.linalg.eigvalsh(covariance * np.outer(root, root)).clip(min=0)
    total = float(np.trace(covariance))
    distance = max(0.0, 2 * total - 2 * float(np.sqrt(eigenvalues).sum()))
    return WassersteinCorrelation(distance * scale**2, distance / total)
