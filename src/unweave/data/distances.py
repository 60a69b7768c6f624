"""Perceived distance: the reconstruction loss between two images, compared with the distance of their factors.

Michlo, Klein and James 2023. Images here are floats in [0, 1], (B, C, H, W); a distance maps two such batches to (B,).
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
CHUNK = 1 << 22  # values (pixels times channels) that are compared at a time
EXACT_UP_TO = 1_000_000  # images; a larger set is sampled for its channel statistics


def mse(a: Tensor, b: Tensor) -> Tensor:
    """Return the mean squared difference of the pixels, (B,)."""
    return (a - b).square().flatten(1).mean(1)


def bce(a: Tensor, b: Tensor) -> Tensor:
    """Return the mean binary cross-entropy of the pixels, (B,), of data ``a`` and reconstructions ``b``.

    Logarithms are clamped at −100, as in ``torch.nn.functional.binary_cross_entropy``.
    """
    return F.binary_cross_entropy(b, a, reduction="none").flatten(1).mean(1)


def blurred_mse(a: Tensor, b: Tensor, *, radius: int = 31, weight: float | None = None) -> Tensor:
    """Return the MSE plus ``weight`` times the MSE after a box blur, (B,): eq. 11.

    Args:
        a: Images (B, C, H, W).
        b: Images of the same shape.
        radius: The radius of the blur in pixels.
        weight: The weight of the second part; by default α = (2·radius + 1)² (sec. 6.1).

    Returns:
        The distances (B,).
    """
    alpha = float((2 * radius + 1) ** 2) if weight is None else weight
    return mse(a, b) + alpha * mse(box_blur(a, radius), box_blur(b, radius))


def box_blur(images: Tensor, radius: int) -> Tensor:
    """Average a (2·radius + 1)² window around each pixel; pixels outside the image count as zero.

    Rows and columns are each multiplied by a banded matrix. This is exact and, for 64 × 64 images, many times faster
    than the Fourier transform of the paper.
    """
    if radius < 0:
        raise InputError(f"the radius of the blur must not be negative, got {radius}.")
    rows, columns = (_band(size, radius).to(images) for size in images.shape[-2:])
    return rows @ images @ columns


@cache
def _band(size: int, radius: int) -> Tensor:
    with torch.inference_mode(False):  # it is cached, and may be used later with gradients
        steps = torch.arange(size)
        return ((steps[:, None] - steps).abs() <= radius).double() / (2 * radius + 1)


DISTANCES: dict[str, Distance] = {"mse": mse, "bce": bce, "blurred_mse": blurred_mse}


def distance_named(name: str) -> Distance:
    """Return a distance by name; ``blurred_mse:8`` blurs with radius 8."""
    kind, _, radius = name.partition(":")
    if kind not in DISTANCES or (radius and kind != "blurred_mse"):
        raise unknown("distance", name, DISTANCES)
    if radius and not (radius.isascii() and radius.isdecimal()):
        raise InputError(f"the radius of the blur must be a whole number, got {radius!r}.")
    return partial(blurred_mse, radius=int(radius)) if radius else DISTANCES[kind]


def ground_truth_distance(a: Tensor, b: Tensor) -> Tensor:
    """Return the ℓ1 distance (…) between points (…, K): eq. 5, in which cyclic factors are not treated as cyclic."""
    return (a - b).abs().sum(-1)


def perceived_distance(
    data: FactorData, a: Tensor, b: Tensor, *, distance: Distance = mse, generator: torch.Generator | None = None
) -> Tensor:
    """Return the distance (n,) between the images of points ``a`` and ``b`` (n, K): eq. 7.

    Args:
        data: The data set that has the images.
        a: Points (n, K).
        b: Points (n, K).
        distance: The distance between images.
        generator: The source of randomness, for data that is not a function of its factors alone.

    Returns:
        The distances (n,).
    """
    if len(a) != len(b):
        raise InputError(f"a and b must have the same number of points, got {len(a)} and {len(b)}.")
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
        raise InputError(f"a distance must return one number for each of the {len(a)} pairs, (B,), got {got}.")
    return values


@dataclass(frozen=True)
class Importance:
    """Mean and standard deviation of the distances between pairs that differ in one factor, or in any number."""

    factor: str  # "random" for pairs of random points
    mean: float
    std: float


def factor_importance(
    data: FactorData, generator: torch.Generator, *, pairs: int = 50_000, distance: Distance = mse
) -> list[Importance]:
    """Measure the perceived distance of a change in each factor, largest first: the order in which VAEs learn (app. A).

    Args:
        data: The data set.
        generator: The source of randomness.
        pairs: The number of random points that are compared, for each factor, with points that differ in that factor
            only (eq. 12).
        distance: The distance between images.

    Returns:
        One row per factor, and the row "random" for pairs of different random points (eq. 13).
    """
    rows = []
    for name, values in sampled_distances(data, generator, pairs=pairs, distance=distance):
        measured = values.double()
        rows.append(Importance(name, float(measured.mean()), float(measured.std())))
    return sorted(rows, key=lambda row: -row.mean)


def sampled_distances(
    data: FactorData, generator: torch.Generator, *, pairs: int = 50_000, distance: Distance = mse
) -> Iterator[tuple[str, Tensor]]:
    """Yield each factor with the distances (pairs,) of random pairs that differ in it only, and finally "random".

    Args:
        data: The data set.
        generator: The source of randomness.
        pairs: The number of pairs.
        distance: The distance between images.

    Yields:
        The name of a factor and the distances (pairs,).
    """
    space = data.space
    pairs = whole("pairs", pairs, at_least=2)
    changeable = [name for name, size in zip(space.names, space.sizes, strict=True) if size > 1]
    if not changeable:
        raise InputError(f"{data.name} has a single point, so there are no pairs to compare.")
    with progress(f"distances of {data.name}", len(changeable) + 1) as advance:
        for name in changeable:
            first = space.sample(pairs, generator)
            second, axis = first.clone(), space.axis(name)
            step = torch.randint(1, space.sizes[axis], (pairs,), generator=generator)
            second[:, axis] = (first[:, axis] + step) % space.sizes[axis]
            yield name, perceived_distance(data, first, second, distance=distance, generator=generator)
            advance(1)
        first = space.sample(pairs, generator)
        second = space.sample(pairs, generator)
        while (same := (first == second).all(1)).any():
            second[same] = space.sample(int(same.sum()), generator)
        yield "random", perceived_distance(data, first, second, distance=distance, generator=generator)
        advance(1)


@dataclass(frozen=True)
class Matrices:
    """Average distances (size, size) between the points of the traversals of a factor."""

    factor: str
    ground_truth: Tensor
    perceived: Tensor

    @property
    def correlation(self) -> float:
        """Pearson correlation of the two off the diagonal; NaN if one is constant, or for fewer than three values."""
        return matrix_correlation(self.ground_truth, self.perceived)

    @property
    def verdict(self) -> str:
        """The correlation as text, or the reason why there is none."""
        return correlation_text(self.ground_truth, self.perceived, digits=3)


def matrix_correlation(one: Tensor, other: Tensor) -> float:
    """Return Pearson's correlation of two square matrices off the diagonal; NaN if one of them is constant there."""
    off = ~torch.eye(len(one), dtype=torch.bool)
    both = torch.stack([one[off].double(), other[off].double()])
    centred = both - both.mean(1, keepdim=True)
    norms = centred.norm(dim=1)
    flat = norms <= 1e-6 * both.norm(dim=1)  # constant up to rounding in single precision
    return float("nan") if flat.any() else float((centred[0] @ centred[1]) / (norms[0] * norms[1]))


def correlation_text(one: Tensor, other: Tensor, *, digits: int) -> str:
    """Return the correlation of two matrices off the diagonal as text, or the reason why there is none."""
    if len(one) < 3:  # an order needs three
        return "1 value" if len(one) == 1 else "2 values"
    value = matrix_correlation(one, other)
    return "constant" if math.isnan(value) else f"{value:.{digits}f}"


def distance_matrices(
    data: FactorData, generator: torch.Generator, *, traversals: int = 50, distance: Distance = mse
) -> list[Matrices]:
    """Return the distances along each factor, averaged over traversals through random points: eq. 10.

    Args:
        data: The data set.
        generator: The source of randomness.
        traversals: The number of random points.
        distance: The distance between images.

    Returns:
        The matrices of each factor.
    """
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
            steps = ground_truth_distance(lines[0][:, None], lines[0])  # the same for every traversal of the factor
            matrices.append(Matrices(name, steps.double(), total / traversals))
            advance(1)
    return matrices


def _rows_of_distances(images: Tensor, distance: Distance) -> Iterator[Tensor]:
    for image in images:
        yield _measured(distance, image.expand_as(images), images).double()


@dataclass(frozen=True)
class ChannelStatistics:
    """Constants (C,) that standardise the images of a data set, computed from ``images`` of them."""

    mean: Tensor
    std: Tensor
    images: int
    exact: bool  # whether these are all images of a deterministic set


def channel_statistics(data: FactorData, generator: torch.Generator) -> ChannelStatistics:
    """Return the mean and standard deviation of each channel of images in [0, 1], as in Table A2.

    The deviation is the mean over images of the unbiased deviation within each image. Sets of more than a million
    images and stochastic sets are sampled.
    """
    exact = data.num_images <= EXACT_UP_TO and not data.stochastic
    count = data.num_images if exact else min(data.num_images, 100_000)
    totals = torch.zeros(2, data.shape[0], dtype=torch.float64)
    step, pixels_each = _pairs_at_once(data), data.shape[1] * data.shape[2]
    with progress(f"channel statistics of {data.name}", count) as advance:
        for start in range(0, count, step):
            n = min(step, count - start)
            images = data.rows(torch.arange(start, start + n)) if exact else data.sample(n, generator).images
            pixels = images.flatten(2)  # (B, C, H·W) uint8
            first = pixels[..., :1].float()  # subtracted before squaring, to avoid cancellation
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
