"""The choice of a precision: bfloat16 where this machine convolves faster in it, float32 elsewhere."""

from __future__ import annotations

import time
from functools import cache
from typing import Literal

import torch
import torch.nn.functional as F

Precision = Literal["32-true", "bf16-mixed"]
AUTO = "auto"
ENOUGH = 0.8  # of the time in float32; casts of weights and activations take a part of what is gained
ROUNDS = 9
IMAGES, CHANNELS, SIDE = 64, 32, 32  # of the second layer of conv64, for images of 64 × 64


@cache
def fastest_precision(device: str) -> Precision:
    """Time one convolution and its gradients in both precisions, once per process, and return the faster one.

    A processor without instructions for bfloat16 emulates them, and can be slower with them than in float32.

    Examples:
        >>> from unweave.training.precision import fastest_precision
        >>> fastest_precision("cpu") in ("32-true", "bf16-mixed")
        True
    """
    place = _place(device)
    if place.type == "mps":
        return "32-true"
    images = torch.rand(IMAGES, CHANNELS, SIDE, SIDE, device=place, requires_grad=True)
    weight = torch.rand(CHANNELS, CHANNELS, 4, 4, device=place, requires_grad=True)
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(ROUNDS):
        for half, times in seconds.items():
            times.append(_seconds(images, weight, half))
    return faster(min(seconds[False]), min(seconds[True]))  # other processes only add to a time


def faster(full: float, half: float) -> Precision:
    """Return bfloat16 if its time is clearly shorter than that of float32.

    >>> faster(1.0, 0.6), faster(1.0, 0.9), faster(1.0, 3.0)
    ('bf16-mixed', '32-true', '32-true')
    """
    return "bf16-mixed" if half <= ENOUGH * full else "32-true"


def _seconds(images: torch.Tensor, weight: torch.Tensor, half: bool) -> float:
    """Return the time of a convolution and of its two gradients."""
    start = time.perf_counter()
    with torch.autocast(images.device.type, dtype=torch.bfloat16, enabled=half):
        total = F.conv2d(images, weight, stride=2, padding=1).sum()
    gradients = torch.autograd.grad(total, (images, weight))
    gradients[1].sum().item()  # waits for the device
    return time.perf_counter() - start


def _place(device: str) -> torch.device:
    """Return the device that a run is trained on."""
    if device != AUTO:
        return torch.device(device)
    kinds = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    return torch.device(next((kind for kind, present in kinds.items() if present), "cpu"))
