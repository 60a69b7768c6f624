"""Reconstruction: the negative log-likelihood of the images given the decoder's outputs."""

from __future__ import annotations

from typing import ClassVar

import torch.nn.functional as F
from torch import Tensor

from unweave.model import Forward, Likelihood
from unweave.terms.reduction import Reduction, over_batch
from unweave.terms.term import Term


def reconstruction_loss(
    logits: Tensor, images: Tensor, *, likelihood: Likelihood, reduction: Reduction = "sum"
) -> Tensor:
    r"""Compute the negative log-likelihood of ``images`` given outputs ``logits``, both (B, C, H, W): a scalar.

    Bernoulli: cross-entropy :math:`-x \log p - (1 - x) \log (1 - p)` with p the sigmoid of the logits, computed from
    the logits. Gaussian: :math:`(x - \hat{x})^2`, a variance of 1/2 without the constant. Summed over pixels as in
    disentanglement_lib (Locatello et al. 2019, app. C), or averaged as in Michlo et al. 2023, app. B.1, and in QLAE's
    and Tripod's code.
    """
    if likelihood == "bernoulli":
        return over_batch(F.binary_cross_entropy_with_logits(logits, images, reduction="none"), reduction)
    return over_batch((logits - images).square(), reduction)


class Reconstruction(Term):
    """The reconstruction loss of the model's likelihood."""

    title: ClassVar[str] = "the reconstruction term"
    formula: ClassVar[str] = "−log p(x | z): cross-entropy for a Bernoulli, (x − x̂)² for a Gaussian"
    paper: ClassVar[str] = "Kingma & Welling 2014, sec. 2; the mean over pixels: Michlo et al. 2023, app. B.1"
    reduction: Reduction = "sum"  # over pixels and channels

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the term from the images of the batch."""
        return reconstruction_loss(
            forward.logits, forward.targets, likelihood=forward.model.likelihood, reduction=self.reduction
        )
