"""Second differences of a decoder's activations along random directions, which both Hessian penalties are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor


def second_differences(activations: Callable[[Tensor], Sequence[Tensor]], z: Tensor, steps: Tensor) -> list[Tensor]:
    r""":math:`f(z + v) - 2 f(z) + f(z - v)` for codes z (n, D) and steps v (k, n, D): (k, n, entries) a layer.

    Tripod (Hsu et al. 2024), eq. 9, before its division. All 2k + 1 codes a row pass the decoder in one call.
    """
    k, n, _ = steps.shape
    codes = torch.cat([z[None], z + steps, z - steps])  # (1 + 2k, n, D)
    layers = activations(codes.flatten(0, 1))
    values = [layer.reshape(1 + 2 * k, n, -1) for layer in layers]  # (1 + 2k, n, entries) each
    return [value[1 : 1 + k] - 2 * value[:1] + value[1 + k :] for value in values]


def rademacher(k: int, z: Tensor, generator: torch.Generator) -> Tensor:
    """Directions (k, n, D) for codes (n, D): −1 or 1 in each latent, as likely."""
    coins = torch.randint(0, 2, (k, *z.shape), generator=generator, device=z.device)
    return (2 * coins - 1).to(z.dtype)


def normal(k: int, z: Tensor, generator: torch.Generator) -> Tensor:
    """Standard normal directions (k, n, D) for codes (n, D)."""
    return torch.randn((k, *z.shape), generator=generator, device=z.device, dtype=z.dtype)
