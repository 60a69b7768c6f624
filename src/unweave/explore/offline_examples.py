"""Images of the data for a page without a server: some to start from, and those in which one factor of them moves."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.explore.examples import MOST_SHOWN, along_factor, at_random

MOST_BYTES = 1_500_000  # of all images, before they are compressed
MOST_ROOTS = 16  # images to start from
MOST_STRIPS = 4  # of them, images whose factors can be moved


@dataclass(frozen=True, eq=False)
class Examples:
    """Images (n, C, H, W) uint8 with their factors (n, K), and which of them to start from."""

    images: Tensor
    factors: Tensor | None
    roots: list[int]


def choose_examples(data: FactorData) -> Examples:
    """Return images of the data, as many as fit, always the same ones."""
    most = max(2, MOST_BYTES // (data.shape[0] * data.shape[1] * data.shape[2]))
    chosen = [at_random(data, seed) for seed in range(min(MOST_ROOTS, most))]
    images = [image[None] for image, _ in chosen]
    roots = list(range(len(images)))
    if not data.has_factors:
        return Examples(torch.cat(images), None, roots)
    factors = [torch.tensor([point]) for _, point in chosen]
    room = most - len(images)
    for point in factors[:MOST_STRIPS]:
        if room < sum(min(size, MOST_SHOWN) for size in data.space.sizes):
            break
        for axis, name in enumerate(data.space.names):
            strip, values = along_factor(data, name, point[0].tolist())
            points = point.repeat(len(values), 1)
            points[:, axis] = torch.tensor(values)
            images.append(strip)
            factors.append(points)
            room -= len(values)
    return Examples(torch.cat(images), torch.cat(factors), roots)
