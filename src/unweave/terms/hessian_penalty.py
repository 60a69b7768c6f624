"""Hessian penalty: does one latent change how another acts on what the decoder makes?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from unweave.model import Forward
from unweave.terms.curvature import over_entries, rademacher, second_differences, variance
from unweave.terms.term import Term


def hessian_penalty(
    activations: Callable[[Tensor], Sequence[Tensor]],
    z: Tensor,
    directions: Tensor,
    *,
    epsilon: float = 0.1,
    reduction: Literal["max", "mean"] = "max",
) -> Tensor:
    r"""Variance over Rademacher ``directions`` (k, n, D) of :math:`v^T H v`, at codes ``z`` (n, D): a scalar.

    For each entry of an activation its mean over draws is :math:`2 \sum_{i \ne j} H_{ij}^2` (Peebles et al. 2020,
    sec. 3; Tripod, eq. 8), with :math:`v^T H v` by central differences (Tripod, eq. 9). The variance is the unbiased
    one; then the greatest entry (or their mean), the mean over rows, the mean over layers.
    Peebles' code takes the greatest entry of the whole batch and sums over layers: here each row keeps a say, the value
    does not grow with the batch, and a weight means the same for deep and shallow decoders.
    """
    penalties = []
    for differences in second_differences(activations, z, epsilon * directions):
        spread = variance(differences, correction=1)  # (n, …)
        penalties.append(over_entries(spread, torch.amax if reduction == "max" else torch.mean) / epsilon**4)  # (n,)
    return torch.stack(penalties).mean()


class HessianPenalty(Term):
    """The off-diagonal Hessian of the decoder's activations, or of its images where it shows none.

    Peebles et al. have no encoder; as in Tripod's code the gradient reaches it through the codes.
    """

    title: ClassVar[str] = "the hessian penalty term"
    formula: ClassVar[str] = "Var_v[vᵀ H v] = 2 Σ_{i≠j} H_ij², v of −1 and 1, greatest over a layer's entries"
    paper: ClassVar[str] = "Peebles et al. 2020, sec. 3; Tripod (Hsu et al. 2024), eq. 8 and 9"
    directions: int = Field(default=2, ge=2, le=10_000)
    epsilon: float = Field(default=0.1, gt=0)
    reduction: Literal["max", "mean"] = "max"  # over an activation's entries
    share: float = Field(default=1.0, gt=0, le=1)  # of the batch

    def __call__(self, batch: Forward) -> Tensor:
        """At the batch's codes."""
        z = batch.code.z[batch.some_rows(self.share)]  # (n, D)
        directions = rademacher(self.directions, z, batch.generator)
        return hessian_penalty(batch.model.activations, z, directions, epsilon=self.epsilon, reduction=self.reduction)
