"""DCIMIG: how much of all factors is held by latents that are each kept for one factor?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.metrics.information import discretize, entropies, information_table, top_two
from unweave.metrics.inputs import Codes, Factors, Floats, labelled


@dataclass(frozen=True, eq=False)
class DCIMIG:
    """The score, and what it is made of."""

    score: float
    per_factor: Floats  # (varying factors,), nats: the widest gap of a latent that is kept for the factor
    mutual_information: Floats  # (D, varying factors), nats


def dcimig(codes: Codes, factors: Factors, *, bins: int = 20) -> DCIMIG:
    """Sum over factors of the widest gap of a latent kept for them, by the sum of entropies (Sepliarskaia et al. 2019).

    A latent is kept for the factor it knows best; its gap is what it knows of that minus what it knows of its second
    best. Constant factors are left out.
    """
    sample = labelled("dcimig", codes, factors)
    classes = sample.factors[:, sample.varying]
    information = information_table(discretize(sample.codes, bins), classes)  # (D, K)
    best, second = top_two(information, axis=1)
    kept = np.zeros_like(information)
    kept[np.arange(len(best)), information.argmax(1)] = best - second
    per_factor = kept.max(0)
    return DCIMIG(float(per_factor.sum() / entropies(classes).sum()), per_factor, information)
