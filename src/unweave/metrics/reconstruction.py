"""Quality of reconstructed images: mean squared error and peak signal-to-noise ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.errors import InputError, whole
from unweave.metrics.scoring.inputs import Floats, to_numpy
from unweave.settings import Count

SIDES, BATCH = ("images", "reconstructions"), "a batch of images of one size"  # for messages
CHUNK = 1_000  # images that are held as float64


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """The mean over images, and the value of each image (N,)."""

    score: float
    per_image: Floats


def reconstruction_error(images: Any, reconstructions: Any) -> Reconstruction:
    """Compute the mean over images of the squared error of pixels in [0, 1].

    Examples:
        >>> import torch
        >>> from unweave.metrics import reconstruction_error
        >>> reconstruction_error(torch.zeros(1, 1, 4, 4), torch.full((1, 1, 4, 4), 0.5)).score
        0.25
    """
    x, y = check_images("reconstruction_error", images, reconstructions)
    per_image = ((x - y) ** 2).mean(1)
    return Reconstruction(float(per_image.mean()), per_image)


def psnr(
    images: Any,
    reconstructions: Any,
    *,
    wrapped: bool = False,
    truncated: bool = False,
    most: Count | None = None,
) -> Reconstruction:
    """Compute the mean over images of the peak signal-to-noise ratio, −10 log10 of the mean squared error, in dB.

    A perfect reconstruction has an infinite ratio. The code of Hsu et al. 2024 (Tripod) subtracts and squares uint8
    pixels: both operations wrap modulo 256, so that large errors count as small ones and no image scores below 24 dB.
    Their thresholds for adequate reconstruction (Shapes3D 38, MPI3D 42, Falcor3D 34, Isaac3D 40 dB) were measured in
    that way and mean nothing for the true ratio.

    Args:
        images: The true images (N, …), uint8 or floats in [0, 1].
        reconstructions: The reconstructed images, of the same shape.
        wrapped: Whether to compute as their code does; floats are truncated to uint8.
        truncated: With ``wrapped``, whether pixels are float32 in [−1, 1] before they are truncated, as in their code,
            which lowers 63 of the 256 true values by one; without it, true values are kept.
        most: The number of images, the first of those that are given; by default all. :func:`unweave.score` gives 1,000
            unless this says another number; their code takes all 10,000 images of the evaluation.

    Returns:
        The mean, and the ratio of each image.

    Examples:
        >>> import torch
        >>> from unweave.metrics import psnr
        >>> round(psnr(torch.zeros(1, 1, 4, 4), torch.full((1, 1, 4, 4), 0.1)).score, 2)  # -10 log10(0.01)
        20.0
    """
    if truncated and not wrapped:
        raise InputError("psnr: truncated is a part of wrapped: set both.")
    most = None if most is None else whole("psnr: most", most, at_least=1)
    x, y = (
        to_numpy("psnr", what, side, expected=BATCH)
        for what, side in zip(SIDES, (images, reconstructions), strict=True)
    )
    if x.ndim < 2 or x.shape != y.shape:
        check_images("psnr", x, y)  # refuses them
    x, y = x[:most], y[:most]
    parts = [slice(start, start + CHUNK) for start in range(0, max(1, len(x)), CHUNK)]
    errors = [_squared_errors(*check_images("psnr", x[part], y[part]), wrapped, truncated) for part in parts]
    with np.errstate(divide="ignore"):
        per_image = -10 * np.log10(np.concatenate(errors))
    return Reconstruction(float(per_image.mean()), per_image)


def _squared_errors(x: Floats, y: Floats, wrapped: bool, truncated: bool) -> Floats:
    """Return the mean squared error of each image."""
    error = (x - y) ** 2
    if wrapped:
        pixels, again = (_bytes(side, truncated) for side in (x, y))
        error = (pixels - again) ** 2 / 255.0**2  # uint8 arithmetic wraps
    means: Floats = error.mean(1)
    return means


def _bytes(pixels: Floats, truncated: bool) -> Any:
    """Return pixels in [0, 1] as uint8, truncated; from float32 in [−1, 1] as the code of Tripod has them, if asked."""
    if not truncated:
        return (pixels * 255 + 1e-6).astype(np.uint8)
    signed = pixels.astype(np.float32) * np.float32(2) - np.float32(1)
    return ((signed + np.float32(1)) / np.float32(2) * np.float32(255)).astype(np.uint8)


def check_images(metric: str, images: Any, reconstructions: Any) -> tuple[Floats, Floats]:
    """Return two batches of images of one shape as rows of float64 pixels in [0, 1]; uint8 is divided by 255."""
    rows = []
    for what, batch in zip(SIDES, (images, reconstructions), strict=True):
        array = to_numpy(metric, what, batch, expected=BATCH)
        if array.dtype.kind not in "biuf":
            raise InputError(f"{metric}: {what} must be real numbers, got {array.dtype}.")
        if array.ndim < 2 or not len(array):
            raise InputError(f"{metric}: {what} must be a batch (N, …) of at least one image, got shape {array.shape}.")
        floats = array.astype(np.float64) / (255 if array.dtype == np.uint8 else 1)
        if not np.isfinite(floats).all():
            raise InputError(f"{metric}: {what} have NaN or infinite pixels.")
        if floats.min() < 0 or floats.max() > 1:
            raise InputError(f"{metric}: {what} must be in [0, 1], got {floats.min():.3g} to {floats.max():.3g}.")
        rows.append(floats)
    if rows[0].shape != rows[1].shape:
        raise InputError(f"{metric}: images have shape {rows[0].shape} but reconstructions {rows[1].shape}.")
    return rows[0].reshape(len(rows[0]), -1), rows[1].reshape(len(rows[1]), -1)
