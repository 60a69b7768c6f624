"""Second differences of a decoder's activations along random directions, which both Hessian penalties are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

ROWS = 128  # that a decoder is given at once: the memory of larger activations goes back to the system at every step


def second_differences(
    activations: Callable[[Tensor], Sequence[Tensor]], z: Tensor, steps: Tensor
) -> list[list[Tensor]]:
    r""":math:`f(z + v) - 2 f(z) + f(z - v)` for codes z (n, D) and steps v (k, n, D): for each layer k of (n, …).

    Tripod (Hsu et al. 2024), eq. 9, before its division. The 2k + 1 codes a row pass the decoder in as few calls as
    memory likes.
    """
    k, n, _ = steps.shape
    codes = torch.cat([z[None], z + steps, z - steps])  # (1 + 2k, n, D)
    layers: list[list[Tensor]] = []  # of each, 1 + 2k activations (n, …)
    for part in codes.split(max(1, ROWS // n)):
        values = [layer.unflatten(0, part.shape[:2]).unbind() for layer in activations(part.flatten(0, 1))]
        layers = (
            [[*layer, *more] for layer, more in zip(layers, values, strict=True)] if layers else list(map(list, values))
        )
    return [
        [plus + minus - 2 * value[0] for plus, minus in zip(value[1 : 1 + k], value[1 + k :], strict=True)]
        for value in layers
    ]


def variance(values: Sequence[Tensor], *, correction: int) -> Tensor:
    """The variance over several tensors, entry by entry; of two it is what their difference says, which is cheap."""
    if len(values) == 2:
        return (values[0] - values[1]).square() / (2 * (2 - correction))
    return torch.stack(list(values)).var(0, correction=correction)


def over_entries(values: Tensor, reduce: Callable[..., Tensor] = torch.mean) -> Tensor:
    """Each row (n,) of activations (n, …), reduced over all that is behind it, in whatever order it lies in memory."""
    return reduce(values, dim=tuple(range(1, values.ndim)))


def rademacher(k: int, z: Tensor, generator: torch.Generator) -> Tensor:
    """Directions (k, n, D) for codes (n, D): −1 or 1 in each latent, as likely."""
    coins = torch.randint(0, 2, (k, *z.shape), generator=generator, device=z.device)
    return (2 * coins - 1).to(z.dtype)


def normal(k: int, z: Tensor, generator: torch.Generator) -> Tensor:
    """Standard normal directions (k, n, D) for codes (n, D)."""
    return torch.randn((k, *z.shape), generator=generator, device=z.device, dtype=z.dtype)
