"""A data set and a net so small that a run takes a fraction of a second."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unweave.data import Card, FactorData
from unweave.factors import FactorSpace
from unweave.nets import Net


class Dots(FactorData):
    """One white pixel on 8 × 8 black ones."""

    name = "dots"
    card = Card(
        title="one dot",
        space=FactorSpace.of(row=8, column=8),
        shape=(1, 8, 8),
        licence="MIT",
        citation="none",
        home="here",
    )

    def __init__(self, *, brightness: int = 255) -> None:
        self.shape = (1, 8, 8)
        self._brightness = brightness

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        images = torch.zeros(len(factors), 1, 8, 8, dtype=torch.uint8)
        images[torch.arange(len(factors)), 0, factors[:, 0], factors[:, 1]] = self._brightness
        return images


def linear(shape: tuple[int, int, int], outputs: int, latents: int) -> Net:
    """One layer each way."""
    return Net(
        nn.Sequential(nn.Flatten(), nn.Linear(64, outputs)),
        nn.Sequential(nn.Linear(latents, 64), nn.Unflatten(1, shape)),
    )


SPEC = """
name = "tiny"
metrics = ["mig"]

[score]
samples = 60
test_samples = 30

[fixed]
steps = 3
batch = 4
latents = 2
net = "tests.study.tiny:linear"

[[grid]]
recipe = "beta_vae"
data = "tests.study.tiny:Dots"
beta = [1, 4]
seed = [0, 1]

[[grid]]
recipe = ["ae"]
data = "tests.study.tiny:Dots"
seeds = 2
"""
