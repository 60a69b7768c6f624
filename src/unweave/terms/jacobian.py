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
from unweave.terms.term import Term, full_precision


def column_differences(
    decode: Callable[[Tensor], Tensor], z: Tensor, columns: Tensor, difference: float
) -> Iterator[Tensor]:
    r"""Yield columns of the Jacobian times the difference, for latents ``columns`` (n, k), in parts (m, n, C, H, W).

    :math:`g(z + \epsilon e_j) - g(z)`; Rhodes & Lee 2021, sec. 4.1, before the division. Codes pass through the decoder
    in few calls, in full precision.

    Args:
        decode: A function from codes (B, D) to images (B, C, H, W).
        z: The codes (n, D).
        columns: The latents that are moved in each code (n, k).
        difference: How far each is moved.

    Yields:
        The next m of the k columns (m, n, C, H, W).
    """
    steps = difference * F.one_hot(columns.T, z.shape[1]).to(z.dtype)  # (k, n, D)
    still = None
    for part in torch.cat([z[None], z + steps]).split(max(1, ROWS // len(z))):  # the unmoved codes first
        with full_precision(z):  # bfloat16 has too few digits for differences of 0.001
            images = decode(part.flatten(0, 1)).unflatten(0, part.shape[:2])  # (m, n, C, H, W)
        if still is None:
            still, images = images[0], images[1:]
        yield images - still


def random_columns(rows: int, latents: int, columns: int, generator: torch.Generator) -> Tensor:
    """Sample latents (rows, columns) for each row without replacement; all latents are in order.

    Args:
        rows: The number of rows.
        latents: The number of latents to choose from.
        columns: The number of latents for each row.
        generator: The source of random numbers, which also says the device.

    Returns:
        The numbers of the latents (rows, columns).
    """
    if columns == latents:
        return torch.arange(latents, device=generator.device).expand(rows, -1)
    return torch.rand(rows, latents, generator=generator, device=generator.device).argsort(1)[:, :columns]


class JacobianPenalty(Term):
    """A norm of the Jacobian of the decoded images at the codes, summed over latents and pixels.

    As in the authors' code the codes are detached, so that only the decoder is regularised. Not published: a random
    ``share`` of the batch and ``columns`` random columns per row, scaled by D / columns. The expectation is the full
    penalty, at the cost of columns + 1 decoded images per row instead of D + 1.
    """

    power: ClassVar[int]  # of the absolute values that are summed
    columns: int | None = Field(default=None, ge=1)  # per row; None: all
    share: float = Field(default=1.0, gt=0, le=1)  # of the batch
    difference: float = Field(default=1e-3, gt=0)  # length of a step

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the penalty at the codes of the batch."""
        if refusal := self.refusal(forward.model.latent):
            raise InputError(f"{self.title}: {refusal}.")
        rows = forward.some_rows(self.share)
        z = forward.code.z.detach()[rows]  # (n, D)
        latents = z.shape[1]
        columns = random_columns(len(z), latents, self.columns or latents, forward.generator)  # (n, k)
        parts = column_differences(forward.model.decode, z, columns, self.difference)
        total = torch.stack([torch.linalg.vector_norm(part, self.power) ** self.power for part in parts]).sum()
        return total * (latents / (columns.numel() * self.difference**self.power))

    def refusal(self, latent: Latent) -> str | None:
        """Return why this term cannot be combined with a latent: it has fewer latents than ``columns``."""
        if self.columns is not None and self.columns > latent.size:
            return f"columns must be at most the number of latents, {latent.size}, got {self.columns}"
        return super().refusal(latent)


class JacobianL1(JacobianPenalty):
    """The sum of the Jacobian's absolute values, which is smallest for sparse columns."""

    title: ClassVar[str] = "the jacobian l1 term"
    formula: ClassVar[str] = r"$\|J_g(z)\|_1 = \sum |\partial g / \partial z|$ over latents and pixels"
    paper: ClassVar[str] = "Rhodes & Lee 2021, sec. 4, eq. 3"
    power: ClassVar[int] = 1


class JacobianL2(JacobianPenalty):
    """The sum of the Jacobian's squares, which is invariant to rotations of the latents."""

    title: ClassVar[str] = "the jacobian l2 term"
    formula: ClassVar[str] = r"$\|J_g(z)\|_2^2 = \sum (\partial g / \partial z)^2$ over latents and pixels"
    paper: ClassVar[str] = "Rhodes & Lee 2021, app. B (JL2-VAE)"
    power: ClassVar[int] = 2
