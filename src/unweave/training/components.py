"""Linear recipes: principal and independent components, fitted by scikit-learn and stored as two linear layers."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from unweave.data import FactorData
from unweave.errors import InputError
from unweave.model import Model
from unweave.streams import number, stream
from unweave.training.configuration import Configuration


def fit_linear(model: Model, configuration: Configuration, data: FactorData) -> None:
    """Set the weights of a model with the net "linear" to the components of a sample of the data."""
    assert configuration.linear is not None
    images = data.sample(configuration.samples, stream(configuration.seed, "data")).images
    rows = images.flatten(1).numpy() / 255.0
    if not np.ptp(rows, axis=0).any():
        raise InputError(f"{configuration.recipe}: all images are equal, so there are no components.")
    seed = number(configuration.seed, "fit") % 2**32
    with threadpool_limits(1):  # a fixed order of sums, so that results depend on the seed only
        encode, decode, mean = components(configuration.linear, rows, configuration.latent.size, seed)
    _put(model.encoder, encode, -encode @ mean)
    _put(model.decoder, decode, mean)


def components(kind: Literal["pca", "ica"], rows: Any, latents: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the maps from pixels to codes (D, pixels) and back (pixels, D), and the mean (pixels,).

    ``rows`` (N, pixels) are images with values in [0, 1].
    """
    from sklearn.decomposition import PCA, FastICA

    principal = PCA(latents, random_state=seed).fit(rows)
    encode, decode = principal.components_, principal.components_.T
    if kind == "ica":
        # We whiten the data ourselves, because scikit-learn's whitening takes its signs from the first pixel, which
        # fails if that pixel is always black.
        variance = principal.explained_variance_
        scale = np.sqrt(np.maximum(variance, 1e-12 * variance.max()))  # images may span fewer directions than latents
        encode, decode = encode / scale[:, None], decode * scale
        white = (rows - principal.mean_) @ encode.T
        unmixing = FastICA(whiten=False, max_iter=1000, tol=1e-3, random_state=seed).fit(white).components_
        encode, decode = unmixing @ encode, decode @ np.linalg.pinv(unmixing)
    encoded, decoded, mean = (
        torch.from_numpy(np.ascontiguousarray(array, np.float32)) for array in (encode, decode, principal.mean_)
    )
    return encoded, decoded, mean


def _put(module: nn.Module, weight: Tensor, bias: Tensor) -> None:
    layer = next(layer for layer in module.modules() if isinstance(layer, nn.Linear))
    with torch.no_grad():
        layer.weight.copy_(weight)
        assert layer.bias is not None
        layer.bias.copy_(bias)
