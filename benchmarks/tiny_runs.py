"""Runs of milliseconds for benchmarks of studies, and a record of every run that is trained to its end.

Workers import this module, because the data set is named ``tiny_runs:Dots``. From then on the process appends the name
of each run that it has finished to ``ended.txt`` beside the store; the file is only ever appended to, so it tells how
often each run was trained to its end, whatever the store says.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unweave.data import Card, FactorData
from unweave.factors import FactorSpace
from unweave.nets import Net
from unweave.training import loop

STEPS = 3
SIDE = 8


class Dots(FactorData):
    """One white pixel on 8 × 8 black ones."""

    name = "dots"
    shape = (1, SIDE, SIDE)
    card = Card("one dot", FactorSpace.of(row=SIDE, column=SIDE), shape, "MIT", "none", "none")

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        images = torch.zeros(len(factors), *self.shape, dtype=torch.uint8)
        images[torch.arange(len(factors)), 0, factors[:, 0], factors[:, 1]] = 255
        return images


def linear(shape: tuple[int, int, int], outputs: int, latents: int) -> Net:
    """Return a net of one layer each way."""
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(SIDE * SIDE, outputs))
    return Net(encoder, nn.Sequential(nn.Linear(latents, SIDE * SIDE), nn.Unflatten(1, shape)))


def spec(runs: int) -> str:
    """Return a study of very short runs that differ in their seeds."""
    return f"""
name = "short"
metrics = ["mig"]

[score]
samples = 60
test_samples = 30

[[grid]]
recipe = "ae"
data = "tiny_runs:Dots"
net = "tiny_runs:linear"
latents = 2
batch = 4
steps = {STEPS}
seeds = {runs}
"""


def ended(store: Path) -> Counter[str]:
    """Return how often each run was trained to its end."""
    path = store.parent / "ended.txt"
    return Counter(path.read_text().split()) if path.exists() else Counter()


def _recording(save_run: Any) -> Any:
    def saved(folder: Path, *given: Any, **settings: Any) -> None:
        save_run(folder, *given, **settings)
        with (folder.parent.parent / "ended.txt").open("a") as file:
            file.write(f"{folder.name}\n")

    return saved


_save_run: Any = vars(loop)["save_run"]
if _save_run.__module__ == "unweave.training.run":  # not replaced yet
    vars(loop)["save_run"] = _recording(_save_run)
