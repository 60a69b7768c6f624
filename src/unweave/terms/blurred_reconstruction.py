"""Blurred reconstruction: a loss that measures how far apart two shapes are, even if no pixel of them overlaps."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field
from torch import Tensor

from unweave.data.distances import box_blur
from unweave.model import Forward, Likelihood
from unweave.terms.reduction import Reduction, over_batch
from unweave.terms.term import Term

EPSILON = 1e-6  # blurred probabilities are clamped this far from 0 and 1; float32 still separates 1 − 1e-6 from 1


def blurred_reconstruction_loss(
    reconstructions: Tensor,
    images: Tensor,
    *,
    likelihood: Likelihood,
    radius: int = 31,
    reduction: Reduction = "sum",
) -> Tensor:
    r"""Compute the reconstruction loss between blurred images, both (B, C, H, W): a scalar.

    :math:`L_{rec}(\mathrm{blur}(x), \mathrm{blur}(\hat{x}))`, the second half of eq. 11 of Michlo et al. 2023,
    sec. 6.1, which weights it by :math:`(2 \cdot radius + 1)^2`. The blur is the mean over a window of that many
    pixels, per channel, with zeros outside the image. ``reconstructions`` are images, after a Bernoulli's sigmoid. The
    paper blurs for squared errors only. For a Bernoulli the cross-entropy is taken between blurred probabilities, which
    are clamped; a clamped pixel has no gradient.
    """
    if likelihood == "gaussian":
        return over_batch(box_blur(reconstructions - images, radius).square(), reduction)  # the blur is linear
    target = box_blur(images, radius)
    p = box_blur(reconstructions, radius).clamp(EPSILON, 1 - EPSILON)
    return over_batch(-target * p.log() - (1 - target) * (-p).log1p(), reduction)


class BlurredReconstruction(Term):
    """The reconstruction loss after a box blur, meant to be added to the plain one."""

    title: ClassVar[str] = "the blurred reconstruction term"
    formula: ClassVar[str] = "L_rec(blur(x), blur(x̂)), blur the mean over (2·radius + 1)² pixels"
    paper: ClassVar[str] = "Michlo et al. 2023, sec. 6.1, eq. 11"
    radius: int = Field(default=31, ge=1, le=100_000)
    reduction: Reduction = "sum"  # over pixels and channels

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the term from the images of the batch; a Gaussian's in the space of its targets."""
        gaussian = forward.model.likelihood == "gaussian"
        return blurred_reconstruction_loss(
            forward.logits if gaussian else forward.reconstructions,
            forward.targets,
            likelihood=forward.model.likelihood,
            radius=self.radius,
            reduction=self.reduction,
        )
