"""Norms of the decoder's Jacobian: how many pixels does a small step along one latent change? (JL1-VAE)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from unweave.errors import InputError
from unweave.latents import Latent
from unweave.model import Forward
from unweave.terms.curvature import ROWS
from unweave.terms.term import Term


def column_differences(
    decode: Callable[[Tensor], Tensor], z: Tensor, columns: Tensor, difference: float
) -> Iterator[Tensor]:
    r"""Columns of the Jacobian times the difference, some (m, n, C, H, W) at a time: of latents ``columns`` (n, k).

    :math:`g(z + \epsilon e_j) - g(z)`, at codes z (n, D); Rhodes & Lee 2021, sec. 4.1, before its division. Codes pass
    the decoder in as few calls as memory likes.
    """
    steps = difference * F.one_hot(columns.T, z.shape[1]).to(z.dtype)  # (k, n, D)
    still = None
    for part in torch.cat([z[None], z + steps]).split(max(1, ROWS // len(z))):  # the unmoved codes first
        images = decode(part.flatten(0, 1)).unflatten(0, part.shape[:2])  # (m, n, C, H, W)
        if still is None:
            still, images = images[0], images[1:]
        yield images - still


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

    power: ClassVar[int]  # of the absolute values that are summed
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
        parts = column_differences(batch.model.decode, z, columns, self.difference)
        total = torch.stack([torch.linalg.vector_norm(part, self.power) ** self.power for part in parts]).sum()
        return total * (latents / (columns.numel() * self.difference**self.power))

    def refusal(self, latent: Latent) -> str | None:
        """There are no more columns than latents."""
        if self.columns is not None and self.columns > latent.size:
            return f"columns must be at most the number of latents, {latent.size}, got {self.columns}"
        return super().refusal(latent)


class JacobianL1(JacobianPenalty):
    """The sum of the Jacobian's absolute values: sparse columns cost least."""

    title: ClassVar[str] = "the jacobian l1 term"
    formula: ClassVar[str] = "‖J_g(z)‖₁ = Σ over latents and pixels of |∂g / ∂z|"
    paper: ClassVar[str] = "Rhodes & Lee 2021, sec. 4, eq. 3"
    power: ClassVar[int] = 1


class JacobianL2(JacobianPenalty):
    """The sum of the Jacobian's squares, which no rotation of the latents changes."""

    title: ClassVar[str] = "the jacobian l2 term"
    formula: ClassVar[str] = "‖J_g(z)‖₂² = Σ over latents and pixels of (∂g / ∂z)²"
    paper: ClassVar[str] = "Rhodes & Lee 2021, app. B (JL2-VAE)"
    power: ClassVar[int] = 2
