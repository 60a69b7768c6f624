"""What metrics by intervention share: points of the space in, codes out, in pieces that fit in memory.

``represent`` takes points (n, K) int64 to codes (n, D); it knows of images what the metrics do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from unweave.errors import InputError, whole
from unweave.factors import FactorSpace
from unweave.metrics.inputs import Floats, check_codes, check_seed

Represent = Callable[[Tensor], Any]
POINTS = 320_000  # represented at a time


def codes_of(metric: str, represent: Represent, points: Tensor) -> Floats:
    """The codes (…, D) of points (…, K)."""
    flat = points.reshape(-1, points.shape[-1])
    codes = check_codes(metric, represent(flat), rows=0)
    if len(codes) != len(flat):
        raise InputError(f"{metric}: represent was given {len(flat):,} points and returned {len(codes):,} codes.")
    return codes.reshape(*points.shape[:-1], codes.shape[1])


def batches_of(votes: int, points_each: int) -> Iterator[int]:
    """How many votes to draw at a time."""
    step = max(1, POINTS // points_each)
    for start in range(0, votes, step):
        yield min(step, votes - start)


def varying_axes(metric: str, space: FactorSpace, at_least: int = 2) -> Tensor:
    """The factors that can be told apart by holding them."""
    axes = [axis for axis, size in enumerate(space.sizes) if size > 1]
    if len(axes) < at_least:
        raise InputError(f"{metric}: needs {at_least} factors with more than one value, got {len(axes)} ({space}).")
    return torch.tensor(axes)


def random_axes(axes: Tensor, votes: int, generator: torch.Generator) -> Tensor:
    """A uniform choice of factor for each vote."""
    return axes[torch.randint(len(axes), (votes,), generator=generator)]


def check_positive(metric: str, **numbers: int) -> None:
    """Refuse sizes below 1 (below 2 for a batch, which has a variance)."""
    for name, number in numbers.items():
        whole(f"{metric}: {name}", number, at_least=2 if name == "batch" else 1)


def torch_generator(seed: int) -> torch.Generator:
    """A generator for drawing points."""
    return torch.Generator().manual_seed(check_seed(seed))
