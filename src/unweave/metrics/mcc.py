"""Mean correlation coefficient: how well do single latents follow single factors, continuous ones too?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

from unweave.errors import InputError
from unweave.metrics.inputs import Codes, Factors, Floats, Integers, check_codes, check_factors, standardised


@dataclass(frozen=True, eq=False)
class MCC:
    """The score, and what it is made of."""

    score: float
    correlation: Floats  # (D, K), absolute; 0 where a latent or factor is constant
    matched: Integers  # (K,), each factor's latent; -1 where there are more factors than latents


def mcc(codes: Codes, factors: Factors, *, method: Literal["pearson", "spearman"] = "pearson") -> MCC:
    """Mean absolute correlation of the best one-to-one matching of latents to factors (Hyvärinen & Morioka 2016).

    Factors may be continuous; classes count as numbers. Factors that vary but find no latent left count as 0; constant
    factors are left out.
    """
    if method not in ("pearson", "spearman"):
        raise InputError(f"mcc: method must be 'pearson' or 'spearman', got {method!r}.")
    x, y = check_codes("mcc", codes), numbers("mcc", factors)
    if len(x) != len(y):
        raise InputError(f"mcc: there are {len(x):,} codes and {len(y):,} rows of factors.")
    if method == "spearman":
        x, y = rankdata(x, axis=0), rankdata(y, axis=0)
    correlation = np.abs(correlations(x, y))
    varies = np.ptp(y, axis=0) > 0
    if not varies.any():
        raise InputError("mcc: needs a factor that varies.")
    latents, columns = linear_sum_assignment(-correlation * varies)
    matched = np.full(y.shape[1], -1, np.int64)
    matched[columns] = latents
    total = correlation[latents, columns][varies[columns]].sum()
    return MCC(float(total / varies.sum()), correlation, matched)


def correlations(x: Floats, y: Floats) -> Floats:
    """Pearson's correlation (D, K) of the columns of x (N, D) and y (N, K), 0 where one is constant."""
    (x,), (y,) = standardised(x), standardised(y)
    correlation: Floats = x.T @ y / len(x)
    return correlation


def numbers(metric: str, factors: Factors) -> Floats:
    """Factors (N, K) as numbers; words have no order to correlate with."""
    array = check_factors(metric, factors)
    if array.dtype.kind in "US":
        raise InputError(f"{metric}: factors must be numbers: words have no order that a correlation could follow.")
    if array.dtype.kind in "iu":  # from their least on: digits beyond what a float holds are lost only where all go
        array = array.astype(object) - array.min(0).astype(object) if np.abs(array).max() > 2**53 else array
    return array.astype(np.float64)
