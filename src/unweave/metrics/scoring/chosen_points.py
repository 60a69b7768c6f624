"""Codes of chosen points of the factor space, in pieces that fit in memory.

``represent`` maps points (n, K) int64 to codes (n, D); the metrics themselves see no images.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from unweave.errors import InputError, whole
from unweave.factors import FactorSpace
from unweave.metrics.scoring.inputs import Floats, check_codes, check_seed

Represent = Callable[[Tensor], Any]
POINTS = 320_000  # encoded at a time


def codes_of(metric: str, represent: Represent, points: Tensor) -> Floats:
    """Return the codes (…, D) of points (…, K)."""
    flat = points.reshape(-1, points.shape[-1])
    codes = check_codes(metric, represent(flat), rows=0)
    if len(codes) != len(flat):
        raise InputError(f"{metric}: represent was given {len(flat):,} points but returned {len(codes):,} codes.")
    return codes.reshape(*points.shape[:-1], codes.shape[1])


def batches_of(votes: int, points_each: int) -> Iterator[int]:
    """Yield how many votes to draw at a time."""
    step = max(1, POINTS // points_each)
    for start in range(0, votes, step):
        yield min(step, votes - start)


def varying_axes(metric: str, space: FactorSpace, at_least: int = 2) -> Tensor:
    """Return the factors with more than one value."""
    axes = [axis for axis, size in enumerate(space.sizes) if size > 1]
    if len(axes) < at_least:
        raise InputError(
            f"{metric}: needs at least {at_least} factors with more than one value, got {len(axes)} ({space})."
        )
    return torch.tensor(axes)


def random_axes(axes: Tensor, votes: int, generator: torch.Generator) -> Tensor:
    """Draw a factor for each vote, uniformly."""
    return axes[torch.randint(len(axes), (votes,), generator=generator)]


def check_positive(metric: str, **numbers: int) -> None:
    """Raise an error for sizes below 1, or below 2 for a batch, whose variance is needed."""
    for name, number in numbers.items():
        whole(f"{metric}: {name}", number, at_least=2 if name == "batch" else 1)


def torch_generator(seed: int) -> torch.Generator:
    """Return a generator for drawing points."""
    return torch.Generator().manual_seed(check_seed(seed))
