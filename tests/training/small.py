"""A run that takes a second: six shapes of light on 16 × 16 pixels, and the settings that make every part small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import unweave
from unweave import FactorData, Run

SMALL: dict[str, Any] = {
    "net": "conv16",
    "batch": 8,
    "steps": 12,
    "threads": 1,
    "device": "cpu",
    "checkpoint_seconds": 0,
}


def pictures() -> Tensor:
    """Bars (72, 16, 16) uint8 at 12 places, of 3 widths and 2 brightnesses."""
    images = torch.zeros(12, 3, 2, 16, 16, dtype=torch.uint8)
    for place in range(12):
        for width in range(3):
            for light in range(2):
                images[place, width, light, 2:14, place : place + 1 + width] = 120 + 135 * light
    return images.flatten(0, 2)


def bars() -> FactorData:
    """The bars with their factors."""
    points = torch.cartesian_prod(torch.arange(12), torch.arange(3), torch.arange(2))
    return unweave.load(pictures(), factors=points, names=["place", "width", "light"])


def trained(store: Path, recipe: str = "beta_vae", data: FactorData | None = None, **settings: Any) -> Run:
    """A small run."""
    common = {"threads": 1, "device": "cpu"} if recipe in ("pca", "ica") else SMALL
    return unweave.train(recipe, data or bars(), store=store, **{**common, **settings})
