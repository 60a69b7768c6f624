"""A run is a representation: it encodes, decodes, and shows what its latents do."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import InputError, Unavailable, whole
from unweave.factors import check_generator
from unweave.latents import Gaussian
from unweave.metrics import psnr
from unweave.model import Model
from unweave.nets import build_net
from unweave.terms.gaussians import kl_to_prior
from unweave.training.checkpoint import OPTIMISER, load_tensors, save_tensors
from unweave.training.configuration import Configuration
from unweave.training.log import read_log
from unweave.training.store import (
    CHECKPOINT,
    LOG,
    SUMMARY,
    WEIGHTS,
    State,
    read_configuration,
    read_state,
    versions,
    write_state,
)
from unweave.training.streams import seeded, stream
from unweave.training.writing import write_text

BATCH = 256  # images at a time
SUMMARISED = 2048  # images that a summary is made from
MEASURED = 512  # images that a PSNR is measured on
PERFECT = 200.0  # dB, for what is reconstructed without error
SLACK = 0.01  # that images may lie outside of [0, 1], as resizing leaves them


@dataclass(frozen=True)
class Summary:
    """What the latents do over the data: each list has an entry a latent."""

    mean: list[float]
    std: list[float]
    kl: list[float] | None  # nats, of a Gaussian posterior from the prior
    usage: list[list[float]] | None  # the share of images that take each value of the codebook

    @property
    def order(self) -> list[int]:
        """The latents, the most informative first: by KL, by the entropy of their values, or by their spread."""
        if self.kl is not None:
            weight = torch.tensor(self.kl)
        elif self.usage is not None:
            weight = torch.special.entr(torch.tensor(self.usage)).sum(1)
        else:
            weight = torch.tensor(self.std)
        order: list[int] = weight.argsort(descending=True, stable=True).tolist()
        return order


class Run:
    """A trained model with its configuration. Images are uint8, or floats in [0, 1]; what it gives is on the CPU."""

    def __init__(self, folder: Path, configuration: Configuration, model: Model, state: State) -> None:
        self.folder, self.configuration, self.state = folder, configuration, state
        self.model = model.eval()

    @property
    def name(self) -> str:
        """The hash of its configuration."""
        return self.configuration.name

    @property
    def discrete(self) -> bool:
        """Whether each latent takes one of a few values."""
        return self.model.values is not None

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """What metrics should know of its codes, for ``unweave.score(run, data, settings=run.settings)``."""
        return {"infomec": {"discrete": True}} if self.discrete else {}

    @cached_property
    def summary(self) -> Summary:
        """What the latents do over the data, measured when the run ended."""
        try:
            return Summary(**json.loads((self.folder / SUMMARY).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise Unavailable(f"the run {self.folder} has no whole {SUMMARY}: has it finished? ({error})") from error

    @property
    def log(self) -> list[dict[str, Any]]:
        """The values of every term along the way."""
        return read_log(self.folder / LOG)

    def __call__(self, images: Tensor) -> Tensor:
        """The same as :meth:`encode`."""
        return self.encode(images)

    def encode(self, images: Tensor) -> Tensor:
        """Codes (B, D) of images (B, C, H, W), without chance: a posterior's mean, or the values chosen."""
        return self._each(self._images(images), lambda batch: self.model.code(batch).representation)

    def posterior(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log-variance (B, D) of the posterior, where there is one."""
        if not isinstance(self.model.latent, Gaussian):
            raise InputError(f"the run {self.folder} has no posterior: its latent is not Gaussian.")
        both = self._each(self._images(images), self.model.encoder)
        mean, logvar = both.chunk(2, dim=1)
        return mean, logvar

    def decode(self, codes: Tensor) -> Tensor:
        """Images (B, C, H, W) in [0, 1] of codes (B, D)."""
        return self._each(self._codes(codes), self.model.decode).clamp(0, 1)

    def reconstruct(self, images: Tensor) -> Tensor:
        """Images (B, C, H, W) in [0, 1] through the code and back."""
        return self.decode(self.encode(images))

    def jacobian(self, codes: Tensor) -> Tensor:
        """Derivatives (B, D, C, H, W) of the decoded images by each latent, at codes (B, D)."""
        directions = torch.eye(self.model.latent.size)

        def columns(batch: Tensor) -> Tensor:
            with torch.enable_grad():
                batch = batch.requires_grad_()
                images = self.model.decode(batch)
                # the gradient is linear in what it is weighted by, so its own gradient is the directional derivative
                weight = torch.zeros_like(images, requires_grad=True)
                (gradient,) = torch.autograd.grad(images, batch, weight, create_graph=True)
                parts = [
                    torch.autograd.grad(gradient, weight, d.to(batch).expand_as(batch), retain_graph=True)[0]
                    for d in directions
                ]
            return torch.stack(parts, dim=1)

        codes = self._codes(codes)
        if not len(codes):
            return codes.new_empty(0, self.model.latent.size, *self.configuration.data.shape)
        return self._each(codes, columns)

    def traverse(self, code: Tensor, *, steps: int = 7, span: float = 2.0) -> Tensor:
        """Images (D, steps, C, H, W): through one code (D,), each latent in turn over its range.

        A Gaussian's range is −span to span; a plain code's its mean and ``span`` standard deviations either way; a
        quantised latent takes its values, evenly thinned.
        """
        steps = whole("steps of a traversal", steps, at_least=2)
        (code,) = self._codes(_tensor("a code", code)[None])
        if not isinstance(span, Real) or not math.isfinite(span):
            raise InputError(f"span must be a number, got {span!r}.")
        ranges = self._ranges(steps, span).to(code)  # (D, steps)
        latents = len(code)
        codes = code.repeat(latents, steps, 1)  # (D, steps, D)
        codes[torch.arange(latents), :, torch.arange(latents)] = ranges
        images: Tensor = self.decode(codes.flatten(0, 1)).unflatten(0, (latents, steps))
        return images

    def sample(self, n: int, generator: torch.Generator) -> Tensor:
        """N images (n, C, H, W) of random codes: from the prior, or each latent by itself as it is over the data."""
        n, generator = whole("the number of images", n), check_generator(generator)
        latents = self.model.latent.size
        values = self.model.values
        if values is not None:
            usage = torch.tensor(self.summary.usage)
            chosen = torch.multinomial(usage, max(n, 1), replacement=True, generator=generator)  # (D, n)
            return self.decode(values.cpu().gather(1, chosen).T[:n])
        codes = torch.randn(n, latents, generator=generator)
        if not isinstance(self.model.latent, Gaussian):
            codes = torch.tensor(self.summary.mean) + torch.tensor(self.summary.std) * codes
        return self.decode(codes)

    def snapshots(self, *, psnr: float = 0.0) -> list[int]:
        """The steps of the snapshots that reconstruct at least this well, in dB (Tripod's protocol, sec. 4.1)."""
        measured = {line["step"]: line["psnr"] for line in self.log if "psnr" in line}
        return [step for step, value in measured.items() if value >= psnr]

    def at(self, step: int) -> Run:
        """The run as it was at one of its snapshots."""
        path = snapshot_path(self.folder, step)
        if not path.exists():
            raise InputError(f"the run {self.folder} has no snapshot of step {step}: it has {self.snapshots()}.")
        tensors, _ = load_tensors(path, self.name)
        model = _model(self.configuration, tensors)
        return Run(self.folder, self.configuration, model, self.state)

    def best_snapshot(self, score: Callable[[Run], float], *, psnr: float) -> Run:
        """Of the snapshots that reconstruct well enough, the one with the best score (Tripod takes InfoM)."""
        steps = self.snapshots(psnr=psnr)
        if not steps:
            raise InputError(f"no snapshot of the run {self.folder} reaches {psnr} dB.")
        return max((self.at(step) for step in steps), key=score)

    def __repr__(self) -> str:
        c = self.configuration
        where = "" if c.linear else f" at step {self.state.step:,}"
        return f"<run {self.name}: {c.recipe} on {c.data.name}, {self.state.status}{where}>"

    def _ranges(self, steps: int, span: float) -> Tensor:
        """The values (D, steps) that each latent takes in a traversal."""
        values = self.model.values
        if values is not None:
            return values[:, torch.linspace(0, values.shape[1] - 1, steps).round().long()]
        line = torch.linspace(-span, span, steps).expand(self.model.latent.size, -1)
        if isinstance(self.model.latent, Gaussian):
            return line
        return torch.tensor(self.summary.mean)[:, None] + torch.tensor(self.summary.std)[:, None] * line

    def _images(self, images: Tensor) -> Tensor:
        images = _tensor("images", images)
        shape = self.configuration.data.shape
        if images.ndim != 4 or tuple(images.shape[1:]) != shape:
            raise InputError(f"this run takes images (B, {', '.join(map(str, shape))}), got {tuple(images.shape)}.")
        if images.dtype != torch.uint8 and not images.is_floating_point():
            raise InputError(f"images must be uint8, or floats in [0, 1], got {images.dtype}.")
        images = images.float() / 255 if images.dtype == torch.uint8 else images.float()
        if images.numel() and not (images.min() >= -SLACK and images.max() <= 1 + SLACK):
            raise InputError(f"images must lie in [0, 1], got {float(images.min()):.3g} to {float(images.max()):.3g}.")
        return images

    def _codes(self, codes: Tensor) -> Tensor:
        codes = _tensor("codes", codes).float()
        if codes.ndim != 2 or codes.shape[1] != self.model.latent.size:
            raise InputError(f"this run takes codes (B, {self.model.latent.size}), got {tuple(codes.shape)}.")
        return codes

    @torch.no_grad()
    def _each(self, rows: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
        """A function of rows, some at a time, on the model's device and back."""
        device = next(self.model.parameters()).device
        parts = [function(part.to(device)).float().cpu().contiguous() for part in rows.split(BATCH)]
        return torch.cat(parts)


def open_run(path: str | Path) -> Run:
    """The run in a folder: finished, or as far as its last checkpoint."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"open takes the folder of a run, got {path!r}.")
    folder = Path(path)
    configuration, state = read_configuration(folder), read_state(folder)
    if state is None:
        raise Unavailable(f"the run {folder} was never started.")
    weights, checkpoint = folder / WEIGHTS, folder / CHECKPOINT
    if weights.exists():
        tensors, _ = load_tensors(weights, configuration.name)
    elif checkpoint.exists():
        everything, _ = load_tensors(checkpoint, configuration.name)
        prefix = "model."
        tensors = {
            name.removeprefix(prefix): value
            for name, value in everything.items()
            if name.startswith(prefix) and not name.startswith(OPTIMISER)
        }
    else:
        raise Unavailable(f"the run {folder} has no weights yet: it is {state.status} at step {state.step}.")
    return Run(folder, configuration, _model(configuration, tensors), state)


def save_run(folder: Path, configuration: Configuration, model: Model, data: FactorData, *, seconds: float) -> None:
    """Write a finished run: its weights, its summary, and last of all that it has finished."""
    save_tensors(folder / WEIGHTS, model.state_dict(), {"run": configuration.name, "version": versions()})
    write_text(folder / SUMMARY, json.dumps(vars(summarise(model, configuration, data))) + "\n")
    quality = measure_psnr(model, configuration, data)
    write_state(folder, State("finished", configuration.steps, versions(), seconds, psnr=quality))


@torch.no_grad()
def summarise(model: Model, configuration: Configuration, data: FactorData) -> Summary:
    """What the latents do over a sample of the data."""
    images = data.sample(SUMMARISED, stream(configuration.seed, "summary")).images
    device = next(model.parameters()).device
    codes = [model.code(part.to(device).float() / 255) for part in images.split(BATCH)]
    code = torch.cat([c.representation for c in codes]).cpu()
    kl = usage = None
    if codes[0].logvar is not None:
        logvar = torch.cat([c.logvar for c in codes if c.logvar is not None]).cpu()
        kl = kl_to_prior(code, logvar).mean(0).tolist()
    if (values := model.values) is not None:
        nearest = (code[:, :, None] - values.cpu()).abs().argmin(-1)  # (B, D), among the sorted values
        counts = torch.stack([row.bincount(minlength=values.shape[1]) for row in nearest.T]).double()
        usage = (counts / len(code)).tolist()
    return Summary(code.mean(0).tolist(), code.std(0).tolist(), kl, usage)


@torch.no_grad()
def measure_psnr(model: Model, configuration: Configuration, data: FactorData) -> float:
    """How well a sample of the data is reconstructed, mean dB."""
    images = data.sample(MEASURED, stream(configuration.seed, "psnr")).images
    device = next(model.parameters()).device
    again = [model.decode(model.code(part.to(device).float() / 255).representation) for part in images.split(BATCH)]
    return min(psnr(images, torch.cat(again).cpu().clamp(0, 1)).score, PERFECT)


def _tensor(what: str, values: Any) -> Tensor:
    try:
        return torch.as_tensor(values).detach()
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{what} must be a tensor, got {type(values).__name__}.") from error


def snapshot_path(folder: Path, step: int) -> Path:
    """Where the weights of a snapshot are."""
    return folder / f"snapshot-{step:08}.safetensors"


def build_model(configuration: Configuration) -> Model:
    """The model of a configuration, at its start; images and kernels lie channels last in memory, which is faster."""
    latent = configuration.latent
    with seeded(configuration.seed, "weights"):
        net = build_net(configuration.net, configuration.data.shape, latent.outputs, latent.size)
        model = Model(net.encoder, net.decoder, latent, configuration.likelihood)
    return model.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def _model(configuration: Configuration, tensors: dict[str, Tensor]) -> Model:
    model = build_model(configuration)
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        raise Unavailable(f"the weights do not fit the net {configuration.net}: {error}") from error
    return model
