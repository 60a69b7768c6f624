"""The training steps that ``training.py`` and ``recipes.py`` measure: ours, a plain loop's and disent's."""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from unweave import FactorData
from unweave.store.state import Log
from unweave.training.assembly import build_model
from unweave.training.configuration import configure
from unweave.training.loop import Session
from unweave.training.trainer import launched

BATCH, LATENTS = 64, 10
Step = Callable[[int], object]  # takes the number of the step


def measure(steps: dict[str, Step], rounds: int) -> dict[str, float]:
    """Return the median milliseconds of each step; the steps take turns."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(rounds + 3):
        for name, step in steps.items():
            start = time.perf_counter()
            step(number)
            if number >= 3:
                times[name].append(1e3 * (time.perf_counter() - start))
    return {name: statistics.median(values) for name, values in times.items()}


def gflop(size: int = 64, width: float = 1.0) -> float:
    """Return the billions of multiplications and additions of one β-VAE step of conv64 on images with one channel.

    The backward pass of a layer takes twice its forward pass; the first layer needs no gradient of the images.
    """
    narrow, wide, units = (round(width * count) for count in (32, 64, 256))
    pixels = [(size // 2**depth) ** 2 for depth in (1, 2, 3, 4)]
    channels = [(1, narrow), (narrow, narrow), (narrow, wide), (wide, wide)]
    encoder = [16 * a * b * n for (a, b), n in zip(channels, pixels, strict=True)]
    linear = wide * pixels[-1] * units
    outputs, inputs = units * 2 * LATENTS, LATENTS * units
    return 2e-9 * BATCH * (3 * (2 * sum(encoder) + 2 * linear + outputs + inputs) - encoder[0])


def our_session(recipe: str, settings: dict[str, Any], data: FactorData, folder: Path) -> tuple[Session, Step]:
    """Return a session and its step with the log, exactly as the training loop takes it."""
    configuration, execution = configure(recipe, data, {"device": "cpu", "latents": LATENTS, **settings})
    fabric = launched(configuration, execution)
    session = Session(configuration, execution, data, folder, build_model(configuration), None, fabric)
    log = Log(folder / f"{recipe}-{len(list(folder.iterdir()))}.jsonl", 0)

    def step(number: int) -> None:
        values = session.step(100_000 + number)  # after the end of every ramp
        if number % execution.log_steps == 0:
            log.write(number, {name: float(value) for name, value in values.items()})

    return session, step


def our_step(recipe: str, settings: dict[str, Any], data: FactorData, folder: Path) -> Step:
    """Return the step of :func:`our_session`."""
    return our_session(recipe, settings, data, folder)[1]


class Images(Dataset[Tensor]):
    """Reads one image at a time, as most public code does."""

    def __init__(self, data: FactorData) -> None:
        self._data = data

    def __len__(self) -> int:
        return self._data.num_images

    def __getitem__(self, index: int) -> Tensor:
        return self._data.rows(torch.tensor([index]))[0].float() / 255


def plain_step(data: FactorData) -> Step:
    """Return the step of a loop as it is usually written: PyTorch's layers, Adam, and a DataLoader of single images."""
    torch.manual_seed(0)
    layers: list[nn.Module] = []
    for a, b in ((1, 32), (32, 32), (32, 64), (64, 64)):
        layers += [nn.Conv2d(a, b, 4, 2, 1), nn.ReLU()]
    encoder = nn.Sequential(*layers, nn.Flatten(), nn.Linear(1024, 256), nn.ReLU(), nn.Linear(256, 2 * LATENTS))
    layers = [nn.Linear(LATENTS, 256), nn.ReLU(), nn.Linear(256, 1024), nn.ReLU(), nn.Unflatten(1, (64, 4, 4))]
    for a, b in ((64, 64), (64, 32), (32, 32)):
        layers += [nn.ConvTranspose2d(a, b, 4, 2, 1), nn.ReLU()]
    decoder = nn.Sequential(*layers, nn.ConvTranspose2d(32, 1, 4, 2, 1))
    optimiser = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-4)
    batches: Iterator[Tensor] = iter(DataLoader(Images(data), BATCH, shuffle=True))

    def step(number: int) -> None:
        x = next(batches)
        mean, logvar = encoder(x).chunk(2, dim=1)
        z = mean + (0.5 * logvar).exp() * torch.randn_like(mean)
        fit = F.binary_cross_entropy_with_logits(decoder(z), x, reduction="sum") / len(x)
        kl = -0.5 * (1 + logvar - mean**2 - logvar.exp()).sum(1).mean()
        optimiser.zero_grad()
        loss = fit + 4 * kl
        loss.backward()
        optimiser.step()
        loss.item()

    return step


def has_disent() -> bool:
    """Return whether disent is installed. It is no dependency of the project: ``pip install disent==0.8.0``."""
    return importlib.util.find_spec("disent") is not None


def disent_step() -> Step:
    """Return a β-VAE step of disent on its own XYSquares, with its own net and loss, without Lightning's trainer."""
    from disent.dataset import DisentDataset
    from disent.dataset.data import XYSquaresData
    from disent.dataset.sampling import SingleSampler
    from disent.dataset.transform import ToImgTensorF32
    from disent.frameworks.vae import BetaVae
    from disent.model import AutoEncoder
    from disent.model.ae import DecoderConv64, EncoderConv64

    torch.manual_seed(0)
    images = DisentDataset(XYSquaresData(), SingleSampler(), transform=ToImgTensorF32())
    batches = iter(DataLoader(images, BATCH, shuffle=True))
    shape = (3, 64, 64)
    model = AutoEncoder(EncoderConv64(shape, z_size=LATENTS, z_multiplier=2), DecoderConv64(shape, z_size=LATENTS))
    settings = {"optimizer_kwargs": {"lr": 1e-4}, "loss_reduction": "mean_sum", "recon_loss": "bce", "beta": 4}
    module = BetaVae(model, cfg=BetaVae.cfg(optimizer="adam", **settings))
    module.log_dict = lambda *_, **__: None  # needs the trainer
    optimiser = module.configure_optimizers()

    def step(number: int) -> None:
        loss = module.training_step(next(batches), number)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        loss.item()

    return step
