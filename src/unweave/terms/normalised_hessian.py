"""Normalised Hessian penalty: how much of the decoder's curvature is between latents? (Tripod, NHP)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from unweave.errors import InputError
from unweave.model import Forward, Model
from unweave.terms.curvature import flat_layers, normal, over_entries, rademacher, second_differences, variance
from unweave.terms.hessian_penalty import SMOOTH
from unweave.terms.term import Term, batch_scale

EPSILON = 0.1  # length of a step, in standard deviations of its latent
FLAT = 1e-10  # added to the denominator: a layer without curvature counts 0, as in the authors' code


def normalised_hessian_penalty(
    activations: Callable[[Tensor], Sequence[Tensor]],
    z: Tensor,
    scale: Tensor,
    signs: Tensor,
    normals: Tensor,
    *,
    layers: Literal["sum", "single"] = "sum",
    known: Sequence[Tensor] | None = None,
) -> Tensor:
    r"""Compute a ratio of two variances of :math:`v^T H v`, at codes ``z`` (n, D) of ``scale`` (D,): a scalar.

    It estimates :math:`\sum_{i \ne j} (H_{ij} s_i s_j)^2 / \sum_{ij} (H_{ij} s_i s_j)^2`, from Rademacher directions
    over Gaussian ones, each times the scale. Tripod (Hsu et al. 2024), sec. 3.3, eq. 16 and 17. With few directions a
    ratio of variances is a biased estimate, and it can exceed 1.

    Args:
        activations: A function from codes to the activations of the decoder's layers.
        z: The codes (n, D).
        scale: The scale of each latent (D,).
        signs: Rademacher directions (k, n, D).
        normals: Gaussian directions (k, n, D).
        layers: ``"sum"`` is the authors' code: biased variances are averaged over the entries of a layer before the
            division, and the ratios of layers are summed. ``"single"`` is Algorithm 1, line 24: one ratio, of sums over
            the entries of all layers.
        known: The activations at the codes, if they are known.

    Returns:
        The mean over rows, a scalar.
    """
    k = len(signs)
    steps = EPSILON * torch.cat([signs, normals]) * scale  # (2k, n, D)
    reduce = torch.mean if layers == "sum" else torch.sum
    between: list[Tensor] = []  # of each layer (n,)
    everything: list[Tensor] = []
    for differences in second_differences(activations, z, steps, known):  # 2k of (n, …)
        for part, variances in ((differences[:k], between), (differences[k:], everything)):
            variances.append(over_entries(variance(part, correction=0), reduce) / EPSILON**4)
    numerator, denominator = torch.stack(between), torch.stack(everything)  # (layers, n)
    if layers == "single":
        return (numerator.sum(0) / (denominator.sum(0) + FLAT)).mean()
    return (numerator / (denominator + FLAT)).sum(0).mean()


class NormalisedHessian(Term):
    """The off-diagonal share of the decoder's curvature, invariant to the scale of codes and activations.

    As in the authors' code nothing is detached: the gradient reaches the encoder through the codes (straight-through if
    they are rounded) and through the scale, the standard deviation of the continuous codes over the whole batch.
    """

    title: ClassVar[str] = "the normalised hessian term"
    formula: ClassVar[str] = (
        r"$\text{Var}[v^\top H v] / \text{Var}[w^\top H w] "
        r"= \sum_{i \ne j} (H_{ij} s_i s_j)^2 / \sum_{ij} (H_{ij} s_i s_j)^2$, summed over layers"
    )
    paper: ClassVar[str] = "Tripod (Hsu et al. 2024), sec. 3.3, eq. 16 and 17"
    smooth: ClassVar[bool] = True
    layers: Literal["sum", "single"] = "sum"  # one ratio per layer, summed (the authors' code), or one for all layers
    directions: int = Field(default=2, ge=2, le=10_000)  # of each kind, per row
    share: float = Field(default=1.0, gt=0, le=1)  # of the batch

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the penalty at the codes of the batch."""
        rows = forward.some_rows(self.share)
        z = forward.code.z[rows]  # (n, D)
        known = None if forward.hidden is None else [layer[rows] for layer in forward.hidden]
        signs = rademacher(self.directions, z, forward.generator)
        normals = normal(self.directions, z, forward.generator)
        scale = batch_scale(forward.code.continuous)
        return normalised_hessian_penalty(
            forward.model.activations, z, scale, signs, normals, layers=self.layers, known=known
        )

    def check_model(self, model: Model) -> None:
        """Refuse a decoder with a piecewise linear layer, whose ratio would depend on rare steps across kinks only."""
        flat = flat_layers(model)
        if all(flat) or (any(flat) and self.layers == "sum"):
            which = "" if all(flat) else f"hidden layer {flat.index(True) + 1} of "
            raise InputError(
                f"{self.title} needs a smooth decoder, but the Hessian of {which}this one is zero almost everywhere: "
                f"{SMOOTH}."
            )
