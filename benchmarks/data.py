"""Measure the time to load a batch of 64, as a fraction of one training step of the usual 64 × 64 network.

Writes ``benchmarks/data.md``. Times are medians; batches and steps alternate in one run, so that a noisy machine slows
both equally.
"""

from __future__ import annotations

import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

import unweave
from unweave.data import SETS, FactorData
from unweave.data.dsprites import DSprites, draw_sprites
from unweave.data.files import data_folder
from unweave.data.files.arrays import Bytes, cached_array
from unweave.data.shapes3d import Shapes3D

BATCH = 64
ROUNDS = 60
TARGETS = {"stored": 0.02, "drawn": 0.15}


class Network(nn.Module):
    """Table 1 of Rhodes and Lee and Table 2 of Locatello et al.: four convolutions down, four up, ten latents."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        widths = (channels, 32, 32, 64, 64)
        down = [nn.Sequential(nn.Conv2d(a, b, 4, 2, 1), nn.ReLU()) for a, b in itertools.pairwise(widths)]
        self.encoder = nn.Sequential(*down, nn.Flatten(), nn.Linear(1024, 256), nn.ReLU(), nn.Linear(256, 20))
        up = (64, 64, 32, 32, channels)
        rise = [nn.Sequential(nn.ConvTranspose2d(a, b, 4, 2, 1), nn.ReLU()) for a, b in itertools.pairwise(up)]
        rise[-1] = nn.Sequential(rise[-1][0])
        hidden = [nn.Linear(10, 256), nn.ReLU(), nn.Linear(256, 1024), nn.ReLU(), nn.Unflatten(1, (64, 4, 4))]
        self.decoder = nn.Sequential(*hidden, *rise)


def trainer(channels: int) -> Callable[[Tensor], None]:
    """Return a function that takes one β-VAE step on a batch of uint8 images."""
    network = Network(channels)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-4)

    def step(images: Tensor) -> None:
        x = images.float() / 255
        mean, logvar = network.encoder(x).chunk(2, dim=1)
        logits = network.decoder(mean + (0.5 * logvar).exp() * torch.randn_like(mean))
        fit = nn.functional.binary_cross_entropy_with_logits(logits, x, reduction="sum")
        divergence = 0.5 * (mean**2 + logvar.exp() - logvar - 1).sum()
        optimiser.zero_grad(set_to_none=True)
        ((fit + 4 * divergence) / len(x)).backward()
        optimiser.step()

    return step


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class DrawnAnew(DSprites):
    """dSprites without the stored grid: every batch is drawn."""

    def __init__(self) -> None:
        self.shape = self.card.shape

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        return draw_sprites(factors)[:, None] * 255


class StoredNoise(Shapes3D):
    """Noise instead of the 480,000 images of 3D Shapes, read in the same way as the converted file."""

    def __init__(self) -> None:
        self.shape = self.card.shape
        path = data_folder("benchmark") / "noise.npy"
        self._images = cached_array(path, (self.space.size, *self.shape), self._fill)

    @staticmethod
    def _fill(array: Bytes) -> None:
        rng = np.random.default_rng(0)
        for start in range(0, len(array), 10_000):
            array[start : start + 10_000] = rng.integers(0, 256, array[start : start + 10_000].shape, dtype=np.uint8)


def measure() -> list[tuple[str, str, float, float]]:
    """Return name, kind, milliseconds per batch and fraction of a step."""
    sets: list[tuple[str, str, FactorData]] = [
        ("dsprites, kept bit-packed", "stored", unweave.load("dsprites")),
        ("shapes3d's format, 5.9 GB of noise, memory-mapped", "stored", StoredNoise()),
        ("dsprites, drawn anew", "drawn", DrawnAnew()),
        *((name, "drawn", unweave.load(name)) for name in SETS if not SETS[name].card.files),
    ]
    steps = {channels: trainer(channels) for channels in (1, 3)}
    generator = torch.Generator().manual_seed(0)
    rows = []
    for name, kind, data in sets:
        step, batch = steps[data.shape[0]], data.sample(BATCH, generator).images
        drawing, training = [], []
        for _ in range(ROUNDS):
            drawing.append(seconds(lambda data=data: data.sample(BATCH, generator)))  # type: ignore[misc]
            training.append(seconds(lambda step=step, batch=batch: step(batch)))  # type: ignore[misc]
        cost = statistics.median(drawing)
        rows.append((name, kind, 1000 * cost, cost / statistics.median(training)))
        print(f"{name:55} {kind:7} {rows[-1][2]:7.3f} ms  {rows[-1][3]:7.2%} of a step")
    return rows


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["UNWEAVE_DATA"] = folder
        whole = seconds(lambda: unweave.load("dsprites"))
        rows = measure()
    lines = [
        "# The time to load data",
        "",
        f"Made by `make bench` on {os.cpu_count()} CPU cores: a batch of {BATCH} random images, as a fraction of one",
        "eager training step of the usual 64 × 64 network; medians of alternating runs.",
        "",
        "| set | kind | ms per batch | fraction of a step | target |",
        "|---|---|---|---|---|",
        *(f"| {n} | {k} | {ms:.3f} | {share:.2%} | ≤ {TARGETS[k]:.0%} |" for n, k, ms, share in rows),
        "",
        "| what | measured | target |",
        "|---|---|---|",
        f"| draw and write the whole grid of dSprites, 737,280 images, s | {whole:.0f} | ≤ 120 |",
        "",
    ]
    Path(__file__).with_suffix(".md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
