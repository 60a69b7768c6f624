"""The values that each latent takes in a figure: levels, the range of the data, or the range of the prior."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import InputError, whole
from unweave.latents.latent import evenly
from unweave.training import Run

Over = Literal["auto", "quantile", "prior", "levels"]
STEPS = 11  # values of a continuous latent
MOST_LEVELS = 24  # of a quantised latent; more would be too small to see


def latent_values(
    run: Run,
    data: FactorData,
    generator: torch.Generator,
    *,
    steps: int | None = None,
    over: Over = "auto",
    span: float = 2.0,
    tail: float = 0.01,
    samples: int = 1_000,
) -> tuple[Tensor, str]:
    """Return the values (D, columns) of each latent, and a phrase that says what they range over.

    ``over="quantile"`` takes ``steps`` values, evenly spaced between the quantiles ``tail`` and 1 − ``tail`` of the
    codes of ``samples`` images; ``"prior"`` those from −``span`` to ``span`` standard deviations of the standard normal
    prior; ``"levels"`` each level of a quantised latent exactly once, or ``steps`` of them. ``"auto"`` is levels for
    quantised latents, the prior for a Gaussian posterior, and otherwise quantiles.
    """
    if steps is not None:
        steps = whole("steps", steps, at_least=2)
    levels = run.model.values
    if over == "auto":
        over = "levels" if levels is not None else "prior" if run.has_posterior else "quantile"
    if over == "levels":
        if levels is None:
            raise InputError("over=levels needs quantised latents: use over=quantile, or over=prior if Gaussian.")
        shown = levels.detach().cpu()[:, evenly(levels.shape[1], steps or MOST_LEVELS)]
        every = shown.shape[1] == levels.shape[1]
        return shown, "each level once" if every else f"{shown.shape[1]} of {levels.shape[1]} levels"
    if over == "prior":
        if not run.has_posterior:
            raise InputError("over=prior needs a Gaussian posterior: use over=quantile, or over=levels if quantised.")
        if not (math.isfinite(span) and span > 0):
            raise InputError(f"span must be a positive number, got {span}.")
        values = torch.linspace(-span, span, steps or STEPS).repeat(run.model.latent.size, 1)
        return values, f"±{span:g} standard deviations of the prior"
    if not 0 <= tail < 0.5:
        raise InputError(f"tail must be at least 0 and below 0.5, got {tail}.")
    codes = run.encode(data.sample(samples, generator).images)
    low, high = torch.quantile(codes, torch.tensor([tail, 1 - tail]), dim=0)  # (D,) each
    share = torch.linspace(0, 1, steps or STEPS)
    text = f"quantiles {tail:g} to {1 - tail:g} of the data"
    return low[:, None] + (high - low)[:, None] * share, text


def moved(code: Tensor, latent: int, values: Tensor) -> Tensor:
    """Return the code (D,) once for each of the values (columns,) of one latent: (columns, D)."""
    codes = code.repeat(len(values), 1)
    codes[:, latent] = values
    return codes
