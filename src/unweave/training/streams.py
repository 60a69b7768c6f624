"""Random streams: every draw of a run belongs to a purpose and a step, so that a continued run draws the same.

No state is kept: a stream is a function of the run's seed, its purpose and the step.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


def stream(
    seed: int, purpose: str, step: int = 0, rank: int = 0, device: torch.device | str = "cpu"
) -> torch.Generator:
    """The generator of one purpose at one step, on the device; ranks of a parallel run draw apart."""
    return torch.Generator(device).manual_seed(number(seed, purpose, step, rank))


def number(seed: int, purpose: str, step: int = 0, rank: int = 0) -> int:
    """63 well-mixed bits of the four."""
    mixed = np.random.SeedSequence([seed, zlib.crc32(purpose.encode()), step, rank])
    return int(mixed.generate_state(1, np.uint64)[0] >> 1)


@contextmanager
def seeded(seed: int, purpose: str, step: int = 0, rank: int = 0, device: torch.device | str = "cpu") -> Iterator[None]:
    """For what draws from torch's global generators, as initialisers and dropout do: they stand where the run says.

    After it they are put back where they stood.
    """
    device = torch.device(device)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.default_generator.manual_seed(number(seed, purpose, step, rank))
        if device.type == "cuda":
            torch.cuda.manual_seed(number(seed, purpose, step, rank))
        yield
