"""Blurred reconstruction: a loss that measures how far apart two shapes are, even if no pixel of them overlaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, ClassVar

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from unweave.data.distances import box_blur
from unweave.errors import InputError
from unweave.model import IN_UNIT_RANGE, Forward, Likelihood, Model
from unweave.settings import named, written_unless
from unweave.terms.term import Reduction, Term, over_batch

EPSILON = 1e-6  # blurred probabilities are clamped this far from 0 and 1; float32 still separates 1 − 1e-6 from 1


def blurred_reconstruction_loss(
    reconstructions: Tensor,
    images: Tensor,
    *,
    likelihood: Likelihood,
    radius: int = 31,
    kernel: str = "box",
    reduction: Reduction = "sum",
) -> Tensor:
    r"""Compute the reconstruction loss between blurred images, both (B, C, H, W): a scalar.

    :math:`L_{rec}(\mathrm{blur}(x), \mathrm{blur}(\hat{x}))`, the second half of eq. 11 of Michlo et al. 2023, sec.
    6.1, which weights it by :math:`(2 \cdot radius + 1)^2`. The paper blurs for squared errors only. For a Bernoulli
    the cross-entropy is taken between blurred probabilities, which are clamped; a clamped pixel has no gradient.

    Args:
        reconstructions: Images (B, C, H, W), after a Bernoulli's sigmoid.
        images: The images (B, C, H, W).
        likelihood: The likelihood, as in :func:`reconstruction_loss`.
        radius: The blur is over a window of 2 · radius + 1 pixels.
        kernel: ``"box"`` is the mean over the window, per channel, with zeros outside the image; others are those of
            :func:`blurred`.
        reduction: As in :func:`reconstruction_loss`.

    Returns:
        A scalar.
    """
    if likelihood not in IN_UNIT_RANGE:
        difference = blurred(reconstructions - images, radius, kernel)  # the blur is linear
        return over_batch(difference.square() if likelihood == "gaussian" else difference.abs(), reduction)
    target = blurred(images, radius, kernel)
    p = blurred(reconstructions, radius, kernel).clamp(EPSILON, 1 - EPSILON)
    return over_batch(-target * p.log() - (1 - target) * (-p).log1p(), reduction)


def blurred(images: Tensor, radius: int, kernel: str) -> Tensor:
    """Blur images (B, C, H, W) by a kernel of 2 · radius + 1 pixels whose weights sum to 1, with zeros outside.

    ``"box"``; ``"gaussian"``, with a standard deviation of a quarter of the radius, as in Disent; or
    ``package.module:function`` of your own, from a radius to weights (k, k), which are divided by their sum.
    """
    if kernel == "box":
        return box_blur(images, radius)  # faster than the convolution
    weights = kernel_weights(kernel, radius).to(images)
    channels = images.shape[1]
    stacked = (weights / weights.sum()).expand(channels, 1, -1, -1)
    return F.conv2d(images, stacked, padding=(weights.shape[0] // 2, weights.shape[1] // 2), groups=channels)


def kernel_weights(kernel: str, radius: int) -> Tensor:
    """Return the weights of a kernel, both of whose sides are odd, before they are divided by their sum."""
    weights = named("kernel", kernel, KERNELS)(radius)
    if not isinstance(weights, Tensor):
        raise InputError(f"the kernel {kernel!r} must return a tensor, got {type(weights).__name__}.")
    if weights.ndim != 2 or weights.shape[0] % 2 == 0 or weights.shape[1] % 2 == 0:
        raise InputError(f"the kernel {kernel!r} must have two odd dimensions, got shape {tuple(weights.shape)}.")
    return weights


def box_kernel(radius: int) -> Tensor:
    """Return the equal weights (2 · radius + 1, 2 · radius + 1) of a box."""
    return torch.ones(2 * radius + 1, 2 * radius + 1)


def gaussian_kernel(radius: int) -> Tensor:
    """Return the weights (2 · radius + 1, 2 · radius + 1) of a Gaussian that is cut at four standard deviations."""
    line = torch.exp(-8 * (torch.arange(-radius, radius + 1, dtype=torch.float64) / radius).square())
    return line[:, None] * line


KERNELS: dict[str, Callable[[int], Tensor]] = {"box": box_kernel, "gaussian": gaussian_kernel}


class BlurredReconstruction(Term):
    """The reconstruction loss after a blur, meant to be added to the plain one."""

    title: ClassVar[str] = "the blurred reconstruction term"
    formula: ClassVar[str] = (
        r"$L_{rec}(\text{blur}(x), \text{blur}(\hat{x}))$, blur the mean over $(2 \cdot \text{radius} + 1)^2$ pixels"
    )
    paper: ClassVar[str] = "Michlo et al. 2023, sec. 6.1, eq. 11"
    radius: int = Field(default=31, ge=1, le=100_000)
    kernel: Annotated[str, written_unless("box")] = "box"  # or gaussian, or package.module:function
    reduction: Reduction = "sum"  # over pixels and channels

    def check_model(self, model: Model) -> None:
        """Refuse a kernel that does not exist or has no weights."""
        if self.kernel != "box":
            kernel_weights(self.kernel, self.radius)

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the term from the images of the batch; means are in the space of their targets."""
        means = forward.model.likelihood not in IN_UNIT_RANGE
        return blurred_reconstruction_loss(
            forward.logits if means else forward.reconstructions,
            forward.targets,
            likelihood=forward.model.likelihood,
            radius=self.radius,
            kernel=self.kernel,
            reduction=self.reduction,
        )
