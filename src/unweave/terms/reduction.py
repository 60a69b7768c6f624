"""Reductions of a batch: to the scalar of a term, at the scale it is published at, and to the scale of each latent."""

from __future__ import annotations

from typing import Literal

from torch import Tensor

Reduction = Literal["sum", "mean"]
SMALLEST = 1e-6  # added to a latent's scale, so that a constant one does not divide by zero; as in Tripod's code


def over_batch(values: Tensor, reduction: Reduction) -> Tensor:
    """Sum or mean of ``values`` (B, …) over all but the batch, then the mean over the batch: a scalar.

    A mean is the sum divided by the number of elements, the normalised form of Michlo et al. 2023, app. B.1, by which
    weights carry over between image sizes and numbers of latents.
    """
    rows = values.flatten(1)  # (B, elements)
    return rows.sum(1).mean() if reduction == "sum" else rows.mean()


def batch_scale(continuous: Tensor) -> Tensor:
    """Biased standard deviation (D,) over the batch of continuous codes (B, D), plus 1e-6.

    Tripod (Hsu et al. 2024), sec. 3.4: of the codes before rounding, which vary where the rounded ones do not. A
    constant latent has no gradient here, rather than an infinite one.
    """
    return continuous.std(0, correction=0) + SMALLEST
