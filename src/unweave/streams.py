"""Random streams: a generator is a function of seed, purpose, step and rank, so that no state has to be saved."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


def stream(
    seed: int, purpose: str, step: int = 0, rank: int = 0, device: torch.device | str = "cpu"
) -> torch.Generator:
    """Return the generator of one purpose at one step.

    Args:
        seed: The seed of the run.
        purpose: What is drawn, such as "weights".
        step: The step of the training.
        rank: The process of a parallel run, each of which has its own generator.
        device: Where the numbers are drawn.

    Returns:
        The generator, the same whenever it is asked for.
    """
    return torch.Generator(device).manual_seed(number(seed, purpose, step, rank))


def number(seed: int, purpose: str, step: int = 0, rank: int = 0) -> int:
    """Hash seed, purpose, step and rank to 63 bits.

    Args:
        seed: The seed of the run.
        purpose: What is drawn.
        step: The step of the training.
        rank: The process of a parallel run.

    Returns:
        The number, which seeds a generator.
    """
    mixed = np.random.SeedSequence([seed, zlib.crc32(purpose.encode()), step, rank])
    return int(mixed.generate_state(1, np.uint64)[0] >> 1)


@contextmanager
def seeded(seed: int, purpose: str, step: int = 0, rank: int = 0, device: torch.device | str = "cpu") -> Iterator[None]:
    """Seed torch's global generators, which initialisers and dropout draw from, and restore them afterwards.

    Args:
        seed: The seed of the run.
        purpose: What is drawn.
        step: The step of the training.
        rank: The process of a parallel run.
        device: Whose generator is seeded besides that of the CPU.

    Yields:
        Nothing; the generators are seeded inside the block.
    """
    device = torch.device(device)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.default_generator.manual_seed(number(seed, purpose, step, rank))
        if device.type == "cuda":
            torch.cuda.manual_seed(number(seed, purpose, step, rank))
        yield
