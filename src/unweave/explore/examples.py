"""Images of the data for the page: by their factors, at random, along one factor, and those of an exported page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import InputError, whole
from unweave.latents.latent import evenly
from unweave.streams import stream

MOST_SHOWN = 12  # values of a factor in a strip
MOST_BYTES = 1_500_000  # of all images, before they are compressed
MOST_ROOTS = 16  # images to start from
SHADES = 4  # of a channel, between which colours are told apart
MOST_STRIPS = 4  # of them, images whose factors can be moved


def by_factors(data: FactorData, factors: Any) -> tuple[Tensor, list[int]]:
    """Return the image (C, H, W) of a point, and the point.

    Where the data has no image of that point, an image is taken that agrees in as many factors as possible.
    """
    point = data.space.check([whole("a factor", value) for value in _listed(factors)])  # (K,)
    if data.labels is not None and not bool(data.exist(point[None])[0]):
        row = int((data.labels == point).sum(1).argmax())
        return data.rows([row], stream(0, "example"))[0], data.labels[row].tolist()
    return data.images(point[None], stream(0, "example"))[0], point.tolist()


def at_random(data: FactorData, seed: Any) -> tuple[Tensor, list[int] | None]:
    """Return a random image (C, H, W), and its factors if they are known."""
    images, factors = data.sample(1, stream(seed_of(seed), "example"))
    return images[0], None if factors is None else factors[0].tolist()


def along_factor(data: FactorData, factor: Any, factors: Any) -> tuple[Tensor, list[int]]:
    """Return images (n, C, H, W) in which one factor of a point moves, and its values; missing images are left out."""
    if not isinstance(factor, str):
        raise InputError(f"factor must be the name of a factor, got {factor!r}.")
    axis = data.space.axis(factor)
    point = data.space.check([whole("a factor", value) for value in _listed(factors)])
    values = evenly(data.space.sizes[axis], MOST_SHOWN)
    points = point.repeat(len(values), 1)  # (n, K)
    points[:, axis] = values
    points = points[data.exist(points)]
    if not len(points):
        raise InputError(f"the data has no image in which only {factor} differs.")
    return data.images(points, stream(0, "example")), points[:, axis].tolist()


def several(data: FactorData, n: int) -> Tensor:
    """Return the same n images (n, C, H, W) on every call."""
    return data.sample(n, stream(1, "example")).images


def seed_of(seed: Any) -> int:
    """Return the seed of a request."""
    return whole("seed", seed, at_most=2**32 - 1)


def _listed(factors: Any) -> list[Any]:
    if not isinstance(factors, list) or not factors or len(factors) > 10_000:
        raise InputError("factors must be a list with one whole number per factor.")
    return factors


@dataclass(frozen=True, eq=False)
class Examples:
    """Images (n, C, H, W) uint8 with their factors (n, K), and which of them to start from."""

    images: Tensor
    factors: Tensor | None
    roots: list[int]


def start_seeds(data: FactorData) -> list[int]:
    """Return the seeds of the images to start from, the most colourful one first; see :func:`at_random`.

    Among images of equally many colours, the one with the largest contrast comes first.
    """
    chosen = [at_random(data, seed)[0] for seed in range(min(MOST_ROOTS, _room(data)))]
    keys = [(colour_entropy(image), float(image.double().flatten(1).var(-1).mean())) for image in chosen]
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=True)


def colour_entropy(image: Tensor) -> float:
    """Return the entropy, in nats, of the colours of an image (C, H, W) uint8, each channel in ``SHADES`` shades.

    It is high where parts of the image have different colours, and low for a blue object before a blue wall.
    """
    shades = image.flatten(1).long() * SHADES // 256  # (C, H W)
    _, counts = shades.unique(dim=1, return_counts=True)
    share = counts.double() / counts.sum()
    return float(-(share * share.log()).sum())


def choose_examples(data: FactorData) -> Examples:
    """Return images of the data, as many as fit, always the same ones."""
    seeds = start_seeds(data)
    chosen = [at_random(data, seed) for seed in range(len(seeds))]
    images = [image[None] for image, _ in chosen]
    roots = list(range(len(images)))
    if not data.has_factors:
        return Examples(torch.cat(images), None, roots)
    factors = [torch.tensor([point]) for _, point in chosen]
    room = _room(data) - len(images)
    for point in [factors[seed] for seed in seeds[:MOST_STRIPS]]:
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


def _room(data: FactorData) -> int:
    """Return how many images of the data an exported page has room for."""
    return max(2, MOST_BYTES // (data.shape[0] * data.shape[1] * data.shape[2]))
