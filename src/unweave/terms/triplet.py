"""Triplet loss: an anchor's code is closer to its positive than to its negative (triplet VAEs and autoencoders)."""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from unweave.errors import InputError
from unweave.model import Forward
from unweave.terms.adaptive_grouping import below
from unweave.terms.term import Term

Form = Literal["hinge", "sigmoid", "soft", "clamped", "split"]


def triplet_loss(
    positive: Tensor, negative: Tensor, *, form: Form = "hinge", margin: float = 10.0, least: float = 0.1, norm: int = 2
) -> Tensor:
    """Compute the mean over triplets of a loss of two distances, p of the positive and n of the negative.

    Args:
        positive: The differences (n, D) of the codes of positives from the anchors'.
        negative: The differences (n, D) of the codes of negatives from the anchors'.
        form: One of Disent's: ``"hinge"`` is max(p − n + margin, 0); ``"sigmoid"`` is sigmoid((p − n) / margin);
            ``"soft"`` is log(1 + exp(p − n)); ``"clamped"`` is the hinge of max(p, least); ``"split"`` is max(p, least)
            − min(n, margin) + margin − least.
        margin: The margin of the forms.
        least: The smallest p that ``"clamped"`` and ``"split"`` tell apart.
        norm: The norm of the distances: 1 or 2.

    Returns:
        A scalar.
    """
    p: Tensor = torch.linalg.vector_norm(positive, norm, dim=-1)
    n: Tensor = torch.linalg.vector_norm(negative, norm, dim=-1)
    if form == "soft":
        return F.softplus(p - n).mean()
    if form == "sigmoid":
        return ((p - n) / margin).sigmoid().mean()
    if form == "split":
        return (p.clamp(min=least) - n.clamp(max=margin)).mean() + margin - least
    return ((p.clamp(min=least) if form == "clamped" else p) - n + margin).clamp(min=0).mean()


class Triplet(Term):
    """The triplet loss of the codes, of the means for a Gaussian latent.

    Rows i, n + i and 2n + i of a batch of 3n images are an anchor, its positive and its negative. ``shared`` below 1 is
    Disent's adaptive form: latents that anchor and negative seem to share, because they differ by less than ``ratio``
    of the range of differences, count that much in the distance of the negative, and so are pulled apart less.
    """

    title: ClassVar[str] = "the triplet term"
    formula: ClassVar[str] = (
        r"$\max(\|a - p\| - \|a - n\| + \text{margin}, 0)$ of the codes of anchor, positive and negative"
    )
    paper: ClassVar[str] = "Ishfaq et al. 2018 (TVAE); the adaptive form: the framework Disent"
    members: ClassVar[int] = 3
    form: Form = "hinge"
    margin: float = Field(default=10.0, gt=0)
    least: float = Field(default=0.1, ge=0)  # the smallest distance of a positive, for clamped and split
    norm: Literal[1, 2] = 2
    shared: float = Field(default=1.0, ge=0, le=1)  # factor of the latents that anchor and negative share
    ratio: float = Field(default=0.5, ge=0, le=1)  # where the threshold lies between smallest and largest difference

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the loss from the codes of the batch."""
        codes = forward.code.continuous
        if len(codes) % 3:
            raise InputError(f"{self.title} needs triplets, so a multiple of 3 images, got {len(codes)}.")
        anchor, positive, negative = codes.chunk(3)
        away = anchor - negative
        if self.shared < 1:
            away = torch.where(below(away.detach().abs(), self.ratio), self.shared * away, away)
        settings = {"form": self.form, "margin": self.margin, "least": self.least, "norm": self.norm}
        return triplet_loss(anchor - positive, away, **settings)  # type: ignore[arg-type]
