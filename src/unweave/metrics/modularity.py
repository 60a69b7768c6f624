"""Modularity: does each latent depend on at most one factor?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.metrics.estimators.information import discretize, information_table
from unweave.metrics.scoring.inputs import Codes, Factors, Floats, labelled
from unweave.settings import Bins


@dataclass(frozen=True, eq=False)
class Modularity:
    """The score, the modularity of each latent and the mutual information."""

    score: float
    per_latent: Floats  # (D,), 0 for a latent without information
    mutual_information: Floats  # (D, varying factors), nats


def modularity(codes: Codes, factors: Factors, *, bins: Bins = 20) -> Modularity:
    r"""Compute the mean over latents of :math:`1 - \sum_{k \ne k^*} I_{jk}^2 / (I_{jk^*}^2 (K - 1))`.

    Ridgeway & Mozer 2018. Locatello et al. 2019 use 20 bins, Rhodes & Lee 2021 use 5. A latent without any information
    counts as 0, as in disentanglement_lib, so that unused latents lower the score; ``per_latent`` shows which. Constant
    factors are left out and not counted in K, where disentanglement_lib counts them; at least two must vary.
    """
    sample = labelled("modularity", codes, factors, factors_at_least=2)
    information = information_table(discretize(sample.codes, bins), sample.factors[:, sample.varying])
    squared = information**2
    best = squared.max(1)  # (D,)
    rest = (squared.sum(1) - best) / (squared.shape[1] - 1)
    per_latent = np.where(best > 0, 1 - np.divide(rest, best, out=np.zeros_like(rest), where=best > 0), 0.0)
    return Modularity(float(per_latent.mean()), per_latent, information)
