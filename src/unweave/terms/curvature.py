"""Second differences of a decoder's activations along random directions, on which both Hessian penalties are based."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from unweave.model import Model
from unweave.terms.term import full_precision

ROWS = 128  # codes per call of the decoder: memory of larger activations is returned to the system, which is slow
TRIED = 8  # codes at which second derivatives are checked


def second_differences(
    activations: Callable[[Tensor], Sequence[Tensor]],
    z: Tensor,
    steps: Tensor,
    known: Sequence[Tensor] | None = None,
) -> list[list[Tensor]]:
    r"""Compute :math:`f(z + v) - 2 f(z) + f(z - v)` at codes z (n, D) for steps v (k, n, D).

    Tripod (Hsu et al. 2024), eq. 9, before the division. The 2k + 1 codes per row pass through the decoder in few
    calls, in full precision: bfloat16 has too few digits for differences.

    Args:
        activations: A function from codes to the activations of the decoder's layers.
        z: The codes (n, D).
        steps: The steps (k, n, D).
        known: The activations at z, if the reconstruction has them; z is then not decoded again.

    Returns:
        For each layer a list of k tensors (n, …).
    """
    k, n, _ = steps.shape
    codes = torch.cat([*([z[None]] if known is None else []), z + steps, z - steps])  # (1 + 2k or 2k, n, D)
    layers: list[list[Tensor]] = [[layer] for layer in known or ()]  # per layer, 1 + 2k activations (n, …)
    with full_precision(z):
        for part in codes.split(max(1, ROWS // n)):
            values = [layer.split(n) for layer in activations(part.flatten(0, 1))]
            before = layers or [[] for _ in values]
            layers = [[*layer, *more] for layer, more in zip(before, values, strict=True)]
    return [
        [plus + minus - 2 * value[0] for plus, minus in zip(value[1 : 1 + k], value[1 + k :], strict=True)]
        for value in layers
    ]


def variance(values: Sequence[Tensor], *, correction: int) -> Tensor:
    """Compute the variance over several tensors, entry by entry. Two tensors take a shortcut.

    The divisor is applied before squaring, and nothing is stacked, so that gradients have the memory format of the
    values: :func:`over_entries` sends back one number per row, and a division of it by a number would make it a tensor
    in the other format. The gradient of a GELU whose formats differ takes ten times as long.
    """
    scale = 1 / math.sqrt(len(values) - correction)
    if len(values) == 2:
        return ((values[0] - values[1]) * (scale / math.sqrt(2))).square()
    mean = functools.reduce(operator.add, values) / len(values)
    return functools.reduce(operator.add, [((value - mean) * scale).square() for value in values])


def over_entries(values: Tensor, reduce: Callable[..., Tensor] = torch.mean) -> Tensor:
    """Reduce each row of activations (n, …) over all its entries, to (n,)."""
    entries = tuple(range(1, values.ndim))
    if reduce is torch.mean:
        return values.sum(dim=entries) / values[0].numel()  # see variance
    return reduce(values, dim=entries)


def rademacher(k: int, z: Tensor, generator: torch.Generator) -> Tensor:
    """Sample directions (k, n, D) for codes (n, D): −1 or 1 in each latent with equal probability."""
    coins = torch.randint(0, 2, (k, *z.shape), generator=generator, device=z.device)
    return (2 * coins - 1).to(z.dtype)


def normal(k: int, z: Tensor, generator: torch.Generator) -> Tensor:
    """Sample standard normal directions (k, n, D) for codes (n, D)."""
    return torch.randn((k, *z.shape), generator=generator, device=z.device, dtype=z.dtype)


def flat_layers(model: Model) -> list[bool]:
    """Return for each of the decoder's activations whether all of its second derivatives vanish.

    For a decoder without ``activations`` it is the outputs, before a sigmoid, which would make them curved.

    This holds for layers that are linear or piecewise linear in the codes, as with ReLUs. It is tested by exact second
    derivatives along random directions at random codes, in evaluation mode. A decoder that cannot be differentiated
    twice counts as curved.
    """
    parameter = next(model.decoder.parameters(), torch.empty(()))
    generator = torch.Generator().manual_seed(0)
    start, direction = torch.randn(2, TRIED, model.latent.size, generator=generator).to(parameter)
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.enable_grad(), full_precision(start):
            t = torch.zeros(TRIED, 1, device=start.device, dtype=start.dtype, requires_grad=True)
            codes = start + t * direction
            shown = hasattr(model.decoder, "activations")
            return [_is_flat(layer, t) for layer in (model.activations(codes) if shown else [model.outputs(codes)])]
    finally:
        for module, training in modes:
            module.training = training


def _is_flat(layer: Tensor, t: Tensor) -> bool:
    weights = torch.randn(layer.shape, generator=torch.Generator().manual_seed(1)).to(layer)
    first = _derivative((layer * weights).sum(), t)
    try:
        return first is None or (second := _derivative(first.sum(), t)) is None or not second.any()
    except RuntimeError:  # a custom function without a second derivative
        return False


def _derivative(value: Tensor, t: Tensor) -> Tensor | None:
    if not value.requires_grad:
        return None
    return torch.autograd.grad(value, t, create_graph=True, retain_graph=True, allow_unused=True)[0]
