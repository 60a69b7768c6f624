"""Small runs of every latent and net, trained for a step or two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

import unweave
from tests.training.small import SMALL, bars
from unweave import FactorData, Recipe, Run
from unweave.latents import FSQ
from unweave.recipes import term
from unweave.terms import Reconstruction


def colours() -> FactorData:
    """Twelve noisy colour images of 32 × 32 pixels."""
    generator = torch.Generator().manual_seed(0)
    return unweave.load(torch.randint(0, 256, (12, 3, 32, 32), dtype=torch.uint8, generator=generator))


CASES: dict[str, tuple[str | Recipe, dict[str, Any]]] = {
    "gaussian-conv16": ("beta_vae", {"latents": 3}),
    "gaussian-conv64-standardised": (
        "beta_vae",
        {"net": {"name": "conv64", "width": 0.125}, "data": colours, "likelihood": "gaussian", "standardised": True},
    ),
    "codebook-mlp": ("qlae", {"net": {"name": "mlp", "width": 0.125}, "latents": 3}),
    "fsq-mlp": (
        Recipe(recipe="rounded", latent=FSQ(size=3, levels=5), terms=(term(Reconstruction()),)),
        {"net": {"name": "mlp", "width": 0.125}},
    ),
    "deterministic-mlp": ("ae", {"net": {"name": "mlp", "width": 0.125}}),
    "pca": ("pca", {"latents": 4}),
    "ica": ("ica", {"latents": 4}),
}
LARGE_CASES: dict[str, tuple[str | Recipe, dict[str, Any]]] = {
    "codebook-qlae": ("qlae", {"net": {"name": "qlae", "width": 0.0625}, "data": colours}),
    "fsq-tripod": ("tripod", {"net": {"name": "tripod", "width": 0.0625, "normalised": True}, "data": colours}),
}


def small_run(case: str, store: Path) -> Run:
    """The run of a case."""
    recipe, settings = {**CASES, **LARGE_CASES}[case]
    data = settings.get("data", bars)()
    rest = {name: value for name, value in settings.items() if name != "data"}
    common = {"threads": 1, "device": "cpu"} if recipe in ("pca", "ica") else {**SMALL, "steps": 2}
    return unweave.train(recipe, data, store=store, **{**common, **rest})
