"""What a model has learned of distances and in which order, from its runs (Michlo et al. 2023, sec. 4.4, app. A)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from unweave.papers.perceived_distance import PUBLISHED

if TYPE_CHECKING:
    from unweave.metrics.scoring.inputs import Floats
    from unweave.training import Run

PERCEIVED = ("latent and perceived", "reconstructed and perceived", "latent and ground truth")
ORDER = "order of learning"
PAIRS, IMAGES, SEED = 2_000, 2_000, 0


def agreements(run: Run) -> dict[str, float]:
    """Return the rank correlations of section 4.4, of pairs of images that differ in one factor."""
    from unweave.metrics import distance_agreement

    found = distance_agreement(run.data(), run.encode, decode=run.decode, pairs=PAIRS, seed=SEED)
    truth, perceived, latent, rebuilt = range(4)
    values = (found.spearman[latent, perceived], found.spearman[rebuilt, perceived], found.spearman[latent, truth])
    return dict(zip(PERCEIVED, map(float, values), strict=True))


def learning_order(run: Run) -> float:
    """Return the rank correlation of the importance of the factors of dSprites with how early they are encoded.

    NaN for a run on other data, or without snapshots.
    """
    from unweave.metrics import mig

    steps = run.snapshots()
    if run.configuration.data.name != "dsprites" or len(steps) < 2:
        return float("nan")
    data = run.data()
    generator = torch.Generator().manual_seed(SEED)
    factors = data.space.sample(IMAGES, generator)
    images, shares = data.images(factors, generator), []
    for step in steps:
        found = mig(run.at(step).encode(images), factors)
        shares.append(found.mutual_information.max(0))  # (K,) nats
    return importance_correlation(data.space.names, np.stack(shares) / np.log(data.space.sizes))


def importance_correlation(factors: Sequence[str], shares: Floats) -> float:
    """Return Spearman's correlation of the importance (Table A1) with the encoded share (steps, K) of each factor.

    Shares are averaged over steps: of factors that are encoded in full at the end, an earlier one has the larger mean.
    """
    from scipy.stats import spearmanr

    importance = [PUBLISHED["dsprites"][name][0] for name in factors]
    return float(spearmanr(importance, shares.mean(0)).statistic)
