"""Mutual information between latents: do they encode the same information?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.metrics.estimators.information import discretize, information_table
from unweave.metrics.scoring.inputs import Codes, Floats, check_codes
from unweave.settings import Bins


@dataclass(frozen=True, eq=False)
class LatentInformation:
    """The mean over pairs of different latents in nats, and the table (D, D), with entropies on its diagonal."""

    score: float
    table: Floats


def mutual_information(codes: Codes, *, bins: Bins = 20) -> LatentInformation:
    """Compute the mean plug-in mutual information of pairs of binned latents (Locatello et al. 2019).

    It is 0 for a single latent.

    Examples:
        >>> import torch
        >>> from unweave.metrics import mutual_information
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> round(mutual_information(factors.float()).score, 2)  # independent latents
        0.0
        >>> round(mutual_information(factors[:, [0, 0]]).score, 2)  # two copies: the entropy of 5 values, log 5
        1.61
    """
    binned = discretize(check_codes("mutual_information", codes), bins)
    table = information_table(binned, binned)
    latents = len(table)
    between = table.sum() - np.trace(table)
    return LatentInformation(float(between / (latents * (latents - 1))) if latents > 1 else 0.0, table)
