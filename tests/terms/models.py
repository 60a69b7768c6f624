"""Tiny models in double precision, and forward passes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from unweave.latents import Gaussian, Latent
from unweave.model import Forward, Likelihood, Model
from unweave.nets import build_net

SHAPE = (2, 3, 4)  # (C, H, W)
PIXELS = 24


class Function(nn.Module):
    """A decoder that is a function of codes, without ``activations``."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function
        self.calls: list[int] = []  # rows of each call

    def forward(self, codes: Tensor) -> Tensor:
        self.calls.append(len(codes))
        return self.function(codes)


class Layers(Function):
    """A decoder with hidden activations."""

    def __init__(self, *layers: Callable[[Tensor], Tensor]) -> None:
        super().__init__(layers[-1])
        self.layers = layers

    def activations(self, codes: Tensor) -> tuple[Tensor, ...]:
        self.calls.append(len(codes))
        return tuple(layer(codes) for layer in self.layers)


def model(
    latent: Latent | None = None, likelihood: Likelihood = "bernoulli", decoder: nn.Module | None = None, seed: int = 0
) -> Model:
    latent = latent or Gaussian(size=3)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        encoder = nn.Sequential(nn.Flatten(), nn.Linear(PIXELS, latent.outputs))
        linear = nn.Sequential(nn.Linear(latent.size, PIXELS), nn.Tanh(), nn.Linear(PIXELS, PIXELS))
        made = Model(encoder, decoder or nn.Sequential(linear, nn.Unflatten(1, SHAPE)), latent, likelihood)
    return made.double()


def net_model(name: str = "conv64", latent: Latent | None = None, **settings: Any) -> Model:
    """A model with one of the nets for images (1, 32, 32), in single precision."""
    latent = latent or Gaussian(size=4)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = build_net({"name": name, "width": 0.25, **settings}, (1, 32, 32), latent.outputs, latent.size)
    return Model(net.encoder, net.decoder, latent, "bernoulli")


def images(rows: int = 6, seed: int = 1) -> Tensor:
    return torch.rand(rows, *SHAPE, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def forward(
    latent: Latent | None = None,
    likelihood: Likelihood = "bernoulli",
    *,
    decoder: nn.Module | None = None,
    rows: int = 6,
    seed: int = 0,
    step: int = 0,
    steps: int = 1,
    dataset_size: int = 100,
    made: Model | None = None,
) -> Forward:
    return Forward(
        made or model(latent, likelihood, decoder),
        images(rows),
        generator=torch.Generator().manual_seed(seed),
        step=step,
        steps=steps,
        dataset_size=dataset_size,
    )


def standardised_forward() -> Forward:
    """A pass of a Gaussian model with a mean and a standard deviation per channel."""
    plain = model(likelihood="gaussian")
    made = Model(plain.encoder, plain.decoder, plain.latent, "gaussian", channels=2, standardised=True).double()
    assert made.mean is not None
    assert made.std is not None
    made.mean.copy_(torch.tensor([0.2, 0.6])[:, None, None])
    made.std.copy_(torch.tensor([0.1, 0.3])[:, None, None])
    return forward(made=made)


def randn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def log_prob(distribution: Any, values: Tensor) -> Tensor:
    """Return log-probabilities, typed."""
    logs: Tensor = distribution.log_prob(values)
    return logs


def gradient(module: nn.Module) -> float:
    """Return the sum of absolute gradients, 0 if there are none."""
    return sum(float(p.grad.abs().sum()) for p in module.parameters() if p.grad is not None)
