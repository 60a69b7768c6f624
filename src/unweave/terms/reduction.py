"""Reductions over a batch: to the scalar of a term, and to the standard deviation of each latent."""

from __future__ import annotations

from typing import Literal

from torch import Tensor

Reduction = Literal["sum", "mean"]
SMALLEST = 1e-6  # added to standard deviations, because they are divisors; as in Tripod's code


def over_batch(values: Tensor, reduction: Reduction) -> Tensor:
    """Sum or average ``values`` (B, …) over all axes but the first, then average over the batch: a scalar.

    The mean is the normalised form of Michlo et al. 2023, app. B.1, with which the same weights can be used for all
    image sizes and numbers of latents.
    """
    rows = values.flatten(1)  # (B, elements)
    return rows.sum(1).mean() if reduction == "sum" else rows.mean()


def batch_scale(continuous: Tensor) -> Tensor:
    """Compute the biased standard deviation (D,) of continuous codes (B, D) over the batch, plus 1e-6.

    Tripod (Hsu et al. 2024), sec. 3.4, takes the codes before rounding, which may vary when the rounded ones do not. A
    constant latent has a gradient of 0, not an infinite one.
    """
    return continuous.std(0, correction=0) + SMALLEST
