"""Hessian penalty: does one latent change how another one affects the decoder's activations?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, ClassVar, Literal

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from unweave.errors import InputError
from unweave.model import Forward, Model
from unweave.settings import written_unless
from unweave.terms.curvature import flat_layers, over_entries, rademacher, second_differences, variance
from unweave.terms.term import Term, batch_scale

Form = Literal["rowwise", "peebles", "tripod"]
SMOOTH = "choose net.activation=gelu, silu or tanh"  # what to do about a decoder without second derivatives


def hessian_penalty(
    activations: Callable[[Tensor], Sequence[Tensor]],
    z: Tensor,
    directions: Tensor,
    *,
    epsilon: float = 0.1,
    form: Form = "rowwise",
    known: Sequence[Tensor] | None = None,
) -> Tensor:
    r"""Compute the variance of :math:`v^T H v` over Rademacher ``directions`` (k, n, D) at codes ``z`` (n, D).

    For each entry of an activation the expectation is :math:`2 \sum_{i \ne j} H_{ij}^2` (Peebles et al. 2020, sec. 3;
    Tripod, eq. 8), with :math:`v^T H v` by central differences (Tripod, eq. 9).

    Args:
        activations: A function from codes to the activations of the decoder's layers.
        z: The codes (n, D).
        directions: Vectors of −1 and 1 (k, n, D).
        epsilon: The length of a central difference.
        form: How variances of entries become a scalar:

            - ``"peebles"``, the authors' code: unbiased variance, the maximum over all entries of the batch, the sum
              over layers.
            - ``"tripod"``, naive Tripod's code: activations with spatial axes are normalised per image and channel
              first, then biased variance, the mean over entries and rows, the sum over layers.
            - ``"rowwise"``: unbiased variance, the maximum over the entries of each row, the mean over rows and layers.
              Unlike Peebles' it does not grow with the batch, and a weight means the same for deep and shallow
              decoders.
        known: The activations at the codes, if they are known.

    Returns:
        A scalar.
    """

    def shown(layers: Sequence[Tensor]) -> Sequence[Tensor]:
        return [normalised(layer) for layer in layers] if form == "tripod" else layers

    at_codes = None if known is None else shown(known)
    penalties = []
    for differences in second_differences(lambda z: shown(activations(z)), z, epsilon * directions, at_codes):
        spread = variance(differences, correction=0 if form == "tripod" else 1)  # (n, …)
        rows = over_entries(spread, torch.mean if form == "tripod" else torch.amax)  # (n,)
        penalties.append((rows.amax() if form == "peebles" else rows.mean()) / epsilon**4)
    total = torch.stack(penalties)  # (layers,)
    return total.mean() if form == "rowwise" else total.sum()


def normalised(layer: Tensor) -> Tensor:
    """Normalise activations (n, C, H, W) to mean 0 and variance 1 per image and channel.

    Layers without spatial axes, or with a single pixel, are returned unchanged.
    """
    return F.instance_norm(layer) if layer.ndim == 4 and layer[0, 0].numel() > 1 else layer


class HessianPenalty(Term):
    """The off-diagonal Hessian of the decoder's activations, or of its images if it has no ``activations``.

    Peebles et al. have no encoder; as in Tripod's code the gradient reaches it through the codes. Naive Tripod has the
    norms of ``form="tripod"`` within its decoder: use the net "tripod" with ``normalised=True``. Directions have
    entries of −1 and 1 only, as in Peebles et al. and as section 4.2 of Tripod implies, where shrinking latents raises
    the penalty; Tripod's published code multiplies them by the latents' standard deviations, as ``scaled=True`` does.
    """

    title: ClassVar[str] = "the hessian penalty term"
    formula: ClassVar[str] = (
        r"$\text{Var}_v[v^\top H v] = 2 \sum_{i \ne j} H_{ij}^2$, $v$ of −1 and 1, maximum over the entries of a layer"
    )
    paper: ClassVar[str] = "Peebles et al. 2020, sec. 3; Tripod (Hsu et al. 2024), eq. 8 and 9"
    smooth: ClassVar[bool] = True
    form: Form = "rowwise"  # how the variances of entries become a scalar
    directions: int = Field(default=2, ge=2, le=10_000)  # per row
    epsilon: float = Field(default=0.1, gt=0)  # length of a step
    share: float = Field(default=1.0, gt=0, le=1)  # of the batch
    scaled: Annotated[bool, written_unless(False)] = False  # directions times the deviations of the latents

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the penalty at the codes of the batch."""
        rows = forward.some_rows(self.share)
        z = forward.code.z[rows]  # (n, D)
        known = None if forward.hidden is None else [layer[rows] for layer in forward.hidden]
        directions = rademacher(self.directions, z, forward.generator)
        if self.scaled:
            directions = directions * batch_scale(forward.code.continuous)
        return hessian_penalty(
            forward.model.activations, z, directions, epsilon=self.epsilon, form=self.form, known=known
        )

    def check_model(self, model: Model) -> None:
        """Refuse a piecewise linear decoder."""
        if all(flat_layers(model)):
            raise InputError(
                f"{self.title} needs a smooth decoder, but the Hessian of this one is zero almost everywhere: {SMOOTH}."
            )
