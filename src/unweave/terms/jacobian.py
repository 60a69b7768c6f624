"""Norms of the decoder's Jacobian: how many pixels does a small step along one latent change? (JL1-VAE)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from unweave.errors import InputError
from unweave.latents import Latent
from unweave.model import Forward
from unweave.terms.term import Term


def jacobian_columns(decode: Callable[[Tensor], Tensor], z: Tensor, columns: Tensor, difference: float) -> Tensor:
    r"""Columns (n, k, C, H, W) of the Jacobian at codes (n, D): those of latents ``columns`` (n, k) int64.

    :math:`(g(z + \epsilon e_j) - g(z)) / \epsilon`, Rhodes & Lee 2021, sec. 4.1. All the codes, moved and
    unmoved, pass the decoder in one call of (k + 1)·n rows.
    """
    n, k = columns.shape
    steps = difference * F.one_hot(columns, z.shape[1]).to(z.dtype)  # (n, k, D)
    moved = z[:, None] + steps  # (n, k, D)
    images = decode(torch.cat([z, moved.flatten(0, 1)]))  # (n + n·k, C, H, W), the unmoved first
    return (images[n:].reshape(n, k, *images.shape[1:]) - images[:n, None]) / difference


def random_columns(rows: int, latents: int, columns: int, generator: torch.Generator) -> Tensor:
    """For each row its own latents (rows, columns), without repetition; in order where all are asked for."""
    if columns == latents:
        return torch.arange(latents, device=generator.device).expand(rows, -1)
    return torch.rand(rows, latents, generator=generator, device=generator.device).argsort(1)[:, :columns]


class JacobianPenalty(Term):
    """A norm of the Jacobian, summed over latents and pixels, of the decoded images at the codes.

    As in the authors' code the codes are detached, so that only the decoder is regularised. New here: of a random
    ``share`` of the batch, and of ``columns`` random columns a row, scaled by D / columns, so that the mean over draws
    is the full penalty, for columns + 1 decodes a row in place of D + 1.
    """

    columns: int | None = Field(default=None, ge=1)  # a row; None: all
    share: float = Field(default=1.0, gt=0, le=1)  # of the batch
    difference: float = Field(default=1e-3, gt=0)

    def __call__(self, batch: Forward) -> Tensor:
        """Of the batch's codes."""
        if refusal := self.refusal(batch.model.latent):
            raise InputError(f"{self.title}: {refusal}.")
        rows = batch.some_rows(self.share)
        z = batch.code.z.detach()[rows]  # (n, D)
        latents = z.shape[1]
        columns = random_columns(len(z), latents, self.columns or latents, batch.generator)  # (n, k)
        jacobian = jacobian_columns(batch.model.decode, z, columns, self.difference)  # (n, k, C, H, W)
        return self.norm(jacobian).flatten(1).sum(1).mean() * (latents / columns.shape[1])

    def refusal(self, latent: Latent) -> str | None:
        """There are no more columns than latents."""
        if self.columns is not None and self.columns > latent.size:
            return f"columns must be at most the number of latents, {latent.size}, got {self.columns}"
        return super().refusal(latent)

    def norm(self, jacobian: Tensor) -> Tensor:
        """What is summed, elementwise."""
        raise NotImplementedError


class JacobianL1(JacobianPenalty):
    """The sum of the Jacobian's absolute values: sparse columns cost least."""

    title: ClassVar[str] = "the jacobian l1 term"
    formula: ClassVar[str] = "‖J_g(z)‖₁ = Σ over latents and pixels of |∂g / ∂z|"
    paper: ClassVar[str] = "Rhodes & Lee 2021, sec. 4, eq. 3"

    def norm(self, jacobian: Tensor) -> Tensor:
        """Absolute values."""
        return jacobian.abs()


class JacobianL2(JacobianPenalty):
    """The sum of the Jacobian's squares, which no rotation of the latents changes."""

    title: ClassVar[str] = "the jacobian l2 term"
    formula: ClassVar[str] = "‖J_g(z)‖₂² = Σ over latents and pixels of (∂g / ∂z)²"
    paper: ClassVar[str] = "Rhodes & Lee 2021, app. B (JL2-VAE)"

    def norm(self, jacobian: Tensor) -> Tensor:
        """Squares."""
        return jacobian.square()
