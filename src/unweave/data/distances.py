"""Perceived distance: how far apart a reconstruction loss sees two images, beside how far apart their factors are.

Michlo, Klein and James 2023. Images here are floats in [0, 1], (B, C, H, W); a distance takes two such batches to (B,).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial

import torch
import torch.nn.functional as F
from torch import Tensor

from unweave.data.factor_data import FactorData
from unweave.errors import InputError, unknown, whole
from unweave.progress import progress

Distance = Callable[[Tensor, Tensor], Tensor]
CHUNK = 1 << 22  # pixels, of all channels, that are compared at a time
EXACT_UP_TO = 1_000_000  # images: a set with more is sampled for its channel statistics


def mse(a: Tensor, b: Tensor) -> Tensor:
    """Mean squared difference of the pixels, (B,)."""
    return (a - b).square().flatten(1).mean(1)


def bce(a: Tensor, b: Tensor) -> Tensor:
    """Mean binary cross-entropy of the pixels, (B,): ``a`` the data, ``b`` the reconstruction.

    Where b is exactly 0 or 1, logarithms stop at −100, as in ``torch.nn.functional.binary_cross_entropy``.
    """
    return F.binary_cross_entropy(b, a, reduction="none").flatten(1).mean(1)


def blurred_mse(a: Tensor, b: Tensor, *, radius: int = 31, weight: float | None = None) -> Tensor:
    """MSE plus ``weight`` times the MSE after a box blur, (B,). Eq. 11; by default α = (2·radius + 1)² (sec. 6.1)."""
    alpha = float((2 * radius + 1) ** 2) if weight is None else weight
    return mse(a, b) + alpha * mse(box_blur(a, radius), box_blur(b, radius))


def box_blur(images: Tensor, radius: int) -> Tensor:
    """Mean over a (2·radius + 1)² window around each pixel, zero outside the image.

    Rows and columns are blurred by a banded matrix each: for images of 64 × 64 two small products, many times faster
    than the Fourier transform of the paper and exact.
    """
    if radius < 0:
        raise InputError(f"the blur's radius must not be negative, got {radius}.")
    rows, columns = (_band(size, radius).to(images) for size in images.shape[-2:])
    return rows @ images @ columns


@cache
def _band(size: int, radius: int) -> Tensor:
    with torch.inference_mode(False):  # it is kept, and may next be asked for while gradients are followed
        steps = torch.arange(size)
        return ((steps[:, None] - steps).abs() <= radius).double() / (2 * radius + 1)


DISTANCES: dict[str, Distance] = {"mse": mse, "bce": bce, "blurred_mse": blurred_mse}


def distance_named(name: str) -> Distance:
    """A distance by name; ``blurred_mse:8`` blurs with radius 8."""
    kind, _, radius = name.partition(":")
    if kind not in DISTANCES or (radius and kind != "blurred_mse"):
        raise unknown("distance", name, DISTANCES)
    if radius and not (radius.isascii() and radius.isdecimal()):
        raise InputError(f"the blur's radius must be a whole number, got {radius!r}.")
    return partial(blurred_mse, radius=int(radius)) if radius else DISTANCES[kind]


def ground_truth_distance(a: Tensor, b: Tensor) -> Tensor:
    """ℓ1 distance (…) between points (…, K): steps from one to the other. Eq. 5, which knows no way round a circle."""
    return (a - b).abs().sum(-1)


def perceived_distance(
    data: FactorData, a: Tensor, b: Tensor, *, distance: Distance = mse, generator: torch.Generator | None = None
) -> Tensor:
    """The distance (n,) between the images of points ``a`` and ``b`` (n, K). Eq. 7."""
    if len(a) != len(b):
        raise InputError(f"there are {len(a)} points on one side and {len(b)} on the other.")
    step = _pairs_at_once(data)
    chunks = [
        _measured(distance, _as_float(data.images(one, generator)), _as_float(data.images(other, generator)))
        for one, other in zip(torch.split(a, step), torch.split(b, step), strict=True)
    ]
    return torch.cat(chunks) if chunks else torch.empty(0)


def _measured(distance: Distance, a: Tensor, b: Tensor) -> Tensor:
    values = distance(a, b)
    if not isinstance(values, Tensor) or values.shape != (len(a),):
        got = tuple(values.shape) if isinstance(values, Tensor) else type(values).__name__
        raise InputError(f"a distance must give one number for each of the {len(a)} pairs, (B,), got {got}.")
    return values


@dataclass(frozen=True)
class Importance:
    """Distances between pairs that differ in one factor, or in any number of them."""

    factor: str  # "random" for pairs of random points
    mean: float
    std: float


def factor_importance(
    data: FactorData, generator: torch.Generator, *, pairs: int = 50_000, distance: Distance = mse
) -> list[Importance]:
    """How far a step along each factor is perceived to go, greatest first: the order a VAE learns them in (app. A).

    For each factor, ``pairs`` random points and for each another value of that factor (eq. 12); in the row called
    "random", pairs of different random points (eq. 13).
    """
    space = data.space
    pairs = whole("pairs", pairs, at_least=2)
    rows = []
    changeable = [name for name, size in zip(space.names, space.sizes, strict=True) if size > 1]
    if not changeable:
        raise InputError(f"{data.name} has a single point: there are no pairs to compare.")
    with progress(f"distances of {data.name}", len(changeable) + 1) as advance:
        for name in changeable:
            first = space.sample(pairs, generator)
            second, axis = first.clone(), space.axis(name)
            step = torch.randint(1, space.sizes[axis], (pairs,), generator=generator)
            second[:, axis] = (first[:, axis] + step) % space.sizes[axis]
            rows.append(_importance(name, data, first, second, distance, generator))
            advance(1)
        first = space.sample(pairs, generator)
        second = space.sample(pairs, generator)
        while (same := (first == second).all(1)).any():
            second[same] = space.sample(int(same.sum()), generator)
        rows.append(_importance("random", data, first, second, distance, generator))
    return sorted(rows, key=lambda row: -row.mean)


def _importance(
    name: str, data: FactorData, a: Tensor, b: Tensor, distance: Distance, generator: torch.Generator
) -> Importance:
    values = perceived_distance(data, a, b, distance=distance, generator=generator).double()
    return Importance(name, float(values.mean()), float(values.std()))


@dataclass(frozen=True)
class Matrices:
    """Average distances (size, size) between the points of a factor's traversals."""

    factor: str
    ground_truth: Tensor
    perceived: Tensor

    @property
    def correlation(self) -> float:
        """Pearson's, between the two off the diagonal; NaN where one of them is constant, and so orders nothing."""
        off = ~torch.eye(len(self.perceived), dtype=torch.bool)
        both = torch.stack([self.ground_truth[off], self.perceived[off]]).double()
        centred = both - both.mean(1, keepdim=True)
        norms = centred.norm(dim=1)
        flat = norms <= 1e-6 * both.norm(dim=1)  # single precision's noise around a constant
        return float("nan") if flat.any() else float((centred[0] @ centred[1]) / (norms[0] * norms[1]))

    @property
    def verdict(self) -> str:
        """The correlation in words, or why there is none."""
        if len(self.perceived) < 3:
            return "one value" if len(self.perceived) == 1 else "two values"  # nothing that could be out of order
        return "constant" if math.isnan(self.correlation) else f"{self.correlation:.3f}"


def distance_matrices(
    data: FactorData, generator: torch.Generator, *, traversals: int = 50, distance: Distance = mse
) -> list[Matrices]:
    """For each factor, the distances along it, averaged over traversals through random points. Eq. 10."""
    space = data.space
    traversals = whole("traversals", traversals, at_least=1)
    matrices = []
    with progress(f"distance matrices of {data.name}", len(space)) as advance:
        for axis, (name, size) in enumerate(zip(space.names, space.sizes, strict=True)):
            lines = space.traverse(space.sample(traversals, generator), axis)  # (traversals, size, K)
            total = torch.zeros(size, size, dtype=torch.float64)
            for line in lines:
                images = _as_float(data.images(line, generator))  # (size, C, H, W)
                total += torch.stack(list(_rows_of_distances(images, distance)))
            steps = ground_truth_distance(lines[0][:, None], lines[0])  # the same along every traversal of the factor
            matrices.append(Matrices(name, steps.double(), total / traversals))
            advance(1)
    return matrices


def _rows_of_distances(images: Tensor, distance: Distance) -> Iterator[Tensor]:
    for image in images:
        yield _measured(distance, image.expand_as(images), images).double()


@dataclass(frozen=True)
class ChannelStatistics:
    """Constants (C,) that standardise a set's images, from ``images`` of them."""

    mean: Tensor
    std: Tensor
    images: int
    exact: bool  # whether these were all the images of a set without chance


def channel_statistics(data: FactorData, generator: torch.Generator) -> ChannelStatistics:
    """Mean and standard deviation of each channel of images in [0, 1], as in Table A2.

    The deviation is the mean over images of each image's own unbiased one. Sets of more than a million images, and
    those that chance shares in, are sampled.
    """
    exact = data.size <= EXACT_UP_TO and not data.stochastic
    count = data.size if exact else min(data.size, 100_000)
    totals = torch.zeros(2, data.shape[0], dtype=torch.float64)
    step, pixels_each = _pairs_at_once(data), data.shape[1] * data.shape[2]
    with progress(f"channel statistics of {data.name}", count) as advance:
        for start in range(0, count, step):
            n = min(step, count - start)
            images = data.rows(torch.arange(start, start + n)) if exact else data.sample(n, generator).images
            pixels = images.flatten(2)  # (B, C, H·W) uint8
            first = pixels[..., :1].float()  # what is subtracted before squaring, so that no digit is lost
            shifted = pixels.float().sub_(first)
            offset, squares = shifted.mean(2).double(), shifted.square_().mean(2).double()  # (B, C)
            totals[0] += (offset + first[..., 0]).sum(0)
            totals[1] += (squares - offset**2).clamp(min=0).sqrt().sum(0)
            advance(n)
    unbiased = math.sqrt(pixels_each / (pixels_each - 1))
    return ChannelStatistics(totals[0] / (255 * count), totals[1] / (255 * count) * unbiased, count, exact)


def _pairs_at_once(data: FactorData) -> int:
    channels, height, width = data.shape
    return max(1, CHUNK // (channels * height * width))


def _as_float(images: Tensor) -> Tensor:
    return images.float().div_(255)
