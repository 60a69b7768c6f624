"""Normalised Hessian penalty: how much of the decoder's curvature is between latents? (Tripod, NHP)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from unweave.model import Forward
from unweave.terms.curvature import normal, over_entries, rademacher, second_differences, variance
from unweave.terms.reduction import batch_scale
from unweave.terms.term import Term

EPSILON = 0.1  # the length of a step, in standard deviations of its latent
FLAT = 1e-10  # added to the denominator: a layer without curvature counts 0, as in the authors' code


def normalised_hessian_penalty(
    activations: Callable[[Tensor], Sequence[Tensor]],
    z: Tensor,
    scale: Tensor,
    signs: Tensor,
    normals: Tensor,
) -> Tensor:
    r"""Ratio of two variances of :math:`v^T H v`, at codes ``z`` (n, D) of ``scale`` (D,): a scalar.

    :math:`\sum_{i \ne j} (H_{ij} s_i s_j)^2 / \sum_{ij} (H_{ij} s_i s_j)^2`, from Rademacher directions ``signs``
    (k, n, D) over Gaussian ones ``normals`` (k, n, D), each times the scale. Tripod (Hsu et al. 2024), sec. 3.3, eq. 16
    and 17. As in the authors' code, the biased variances are averaged over a layer's entries before the division
    (sec. 3.4), and the ratios are summed over layers, where Algorithm 1 has a single ratio; then the mean over rows.
    With few directions a ratio of variances is no unbiased estimate of the ratio, and it can exceed 1.
    """
    k = len(signs)
    steps = EPSILON * torch.cat([signs, normals]) * scale  # (2k, n, D)
    total = z.new_zeros(len(z))
    for differences in second_differences(activations, z, steps):  # 2k of (n, …)
        between, everything = (
            over_entries(variance(part, correction=0)) / EPSILON**4  # (n,)
            for part in (differences[:k], differences[k:])
        )
        total = total + between / (everything + FLAT)
    return total.mean()


class NormalisedHessian(Term):
    """The share of the decoder's curvature that is off the Hessian's diagonal, whatever the scale of codes and images.

    As in the authors' code nothing is detached: the gradient reaches the encoder through the codes, straight through a
    rounding, and through the scale, the standard deviation of the continuous codes over the whole batch.
    """

    title: ClassVar[str] = "the normalised hessian term"
    formula: ClassVar[str] = (
        "Var[vᵀ H v] / Var[wᵀ H w] = Σ_{i≠j} (H_ij sᵢ sⱼ)² / Σ_ij (H_ij sᵢ sⱼ)², summed over layers"
    )
    paper: ClassVar[str] = "Tripod (Hsu et al. 2024), sec. 3.3, eq. 16 and 17"
    directions: int = Field(default=2, ge=2, le=10_000)  # of each kind
    share: float = Field(default=1.0, gt=0, le=1)  # of the batch

    def __call__(self, batch: Forward) -> Tensor:
        """At the batch's codes."""
        z = batch.code.z[batch.some_rows(self.share)]  # (n, D)
        signs = rademacher(self.directions, z, batch.generator)
        normals = normal(self.directions, z, batch.generator)
        return normalised_hessian_penalty(
            batch.model.activations, z, batch_scale(batch.code.continuous), signs, normals
        )
