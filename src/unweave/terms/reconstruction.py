"""Reconstruction: the negative log-likelihood of the images given the decoder's outputs."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from unweave.model import Forward, Likelihood
from unweave.terms.term import Reduction, Term, over_batch


def reconstruction_loss(
    logits: Tensor, images: Tensor, *, likelihood: Likelihood, reduction: Reduction = "sum"
) -> Tensor:
    r"""Compute the negative log-likelihood of ``images`` given outputs ``logits``, both (B, C, H, W): a scalar.

    Bernoulli: cross-entropy :math:`-x \log p - (1 - x) \log (1 - p)` with p the sigmoid of the logits, computed from
    the logits. Continuous Bernoulli: the cross-entropy minus the logarithm of the normaliser (Loaiza-Ganem & Cunningham
    2019), which may be negative. Gaussian: :math:`(x - \hat{x})^2`, a variance of 1/2 without the constant. Laplace:
    :math:`|x - \hat{x}|`, the mean absolute error.

    Args:
        logits: The outputs of the decoder (B, C, H, W).
        images: The images (B, C, H, W).
        likelihood: One of the four above.
        reduction: ``"sum"`` sums over pixels as in disentanglement_lib (Locatello et al. 2019, app. C), ``"mean"``
            averages as in Michlo et al. 2023, app. B.1, and in QLAE's and Tripod's code.

    Returns:
        A scalar.
    """
    if likelihood == "bernoulli":
        return over_batch(F.binary_cross_entropy_with_logits(logits, images, reduction="none"), reduction)
    if likelihood == "continuous_bernoulli":
        entropy = F.binary_cross_entropy_with_logits(logits, images, reduction="none")
        return over_batch(entropy - log_normaliser(logits), reduction)
    if likelihood == "laplace":
        return over_batch((logits - images).abs(), reduction)
    return over_batch((logits - images).square(), reduction)


def log_normaliser(logits: Tensor) -> Tensor:
    r"""Compute the logarithm of the continuous Bernoulli's normaliser, :math:`\log (l / \tanh(l / 2))` of logits l.

    A series near 0, where both are 0. PyTorch's distribution switches to its own series between probabilities of 0.49
    and 0.51; both agree to 1e-9 there.
    """
    small = logits.abs() < 0.1
    safe = torch.where(small, 1.0, logits)
    series = (logits.square() / 12 - logits**4 / 720).log1p() + math.log(2)
    return torch.where(small, series, (safe / torch.tanh(safe / 2)).log())


class Reconstruction(Term):
    """The reconstruction loss of the model's likelihood."""

    title: ClassVar[str] = "the reconstruction term"
    formula: ClassVar[str] = (
        r"$-\log p(x \mid z)$: cross-entropy for a Bernoulli, "
        r"$(x - \hat{x})^2$ for a Gaussian, $|x - \hat{x}|$ for a Laplace"
    )
    paper: ClassVar[str] = "Kingma & Welling 2014, sec. 2; the mean over pixels: Michlo et al. 2023, app. B.1"
    reduction: Reduction = "sum"  # over pixels and channels

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the term from the images of the batch."""
        return reconstruction_loss(
            forward.logits, forward.targets, likelihood=forward.model.likelihood, reduction=self.reduction
        )
