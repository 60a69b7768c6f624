"""Mutual information between latents: do they repeat one another?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.metrics.information import discretize, information_table
from unweave.metrics.inputs import Codes, Floats, check_codes


@dataclass(frozen=True, eq=False)
class LatentInformation:
    """The mean over pairs of different latents, nats, and the table (D, D); its diagonal is the latents' entropy."""

    score: float
    table: Floats


def mutual_information(codes: Codes, *, bins: int = 20) -> LatentInformation:
    """Mean plug-in mutual information of two different binned latents (Locatello et al. 2019). 0 for one latent."""
    binned = discretize(check_codes("mutual_information", codes), bins)
    table = information_table(binned, binned)
    latents = len(table)
    between = table.sum() - np.trace(table)
    return LatentInformation(float(between / (latents * (latents - 1))) if latents > 1 else 0.0, table)
