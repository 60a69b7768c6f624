"""How well images are reconstructed: squared error and peak signal-to-noise ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unweave.errors import InputError
from unweave.metrics.inputs import Floats


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """The mean over images, and each image's value (N,)."""

    score: float
    per_image: Floats


def reconstruction_error(images: Any, reconstructions: Any) -> Reconstruction:
    """Mean squared error of pixels in [0, 1]."""
    x, y = check_images("reconstruction_error", images, reconstructions)
    per_image = ((x - y) ** 2).mean(1)
    return Reconstruction(float(per_image.mean()), per_image)


def psnr(images: Any, reconstructions: Any) -> Reconstruction:
    """Mean over images of −10 log10 of the mean squared error, in dB; infinite for a perfect one."""
    x, y = check_images("psnr", images, reconstructions)
    with np.errstate(divide="ignore"):
        per_image = -10 * np.log10(((x - y) ** 2).mean(1))
    return Reconstruction(float(per_image.mean()), per_image)


def check_images(metric: str, images: Any, reconstructions: Any) -> tuple[Floats, Floats]:
    """Two batches of images of one shape as rows of float64 pixels in [0, 1]; uint8 is divided by 255."""
    rows = []
    for what, batch in (("images", images), ("reconstructions", reconstructions)):
        if isinstance(batch, Tensor):
            batch = batch.detach().cpu()
            batch = (batch.float() if batch.dtype == torch.bfloat16 else batch).numpy()
        try:
            array = np.asarray(batch)
        except ValueError as error:
            raise InputError(f"{metric}: {what} must be a batch of images of one size.") from error
        if array.dtype.kind not in "biuf":
            raise InputError(f"{metric}: {what} must be numbers, got {array.dtype}.")
        if array.ndim < 2 or not len(array):
            raise InputError(f"{metric}: {what} must be a batch (N, …) with N > 0, got shape {array.shape}.")
        floats = array.astype(np.float64) / (255 if array.dtype == np.uint8 else 1)
        if not np.isfinite(floats).all():
            raise InputError(f"{metric}: {what} have NaN or infinite pixels.")
        if floats.min() < 0 or floats.max() > 1:
            raise InputError(f"{metric}: {what} must lie in [0, 1], got {floats.min():.3g} to {floats.max():.3g}.")
        rows.append(floats)
    if rows[0].shape != rows[1].shape:
        raise InputError(f"{metric}: images have shape {rows[0].shape} and reconstructions {rows[1].shape}.")
    return rows[0].reshape(len(rows[0]), -1), rows[1].reshape(len(rows[1]), -1)
