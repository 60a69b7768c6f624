"""Linear recipes: principal and independent components, fitted by scikit-learn and kept as two linear layers."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from unweave.data import FactorData
from unweave.errors import InputError
from unweave.model import Model
from unweave.training.configuration import Configuration
from unweave.training.streams import number, stream


def fit_linear(model: Model, configuration: Configuration, data: FactorData) -> None:
    """Set the weights of a model with the net "linear" to the components of a sample of the data."""
    assert configuration.linear is not None
    images = data.sample(configuration.samples, stream(configuration.seed, "data")).images
    rows = images.flatten(1).numpy() / 255.0  # in float32 independent components come out alike
    if not np.ptp(rows, axis=0).any():
        raise InputError(f"{configuration.recipe}: all images are alike, and have no components.")
    seed = number(configuration.seed, "fit") % 2**32
    fitted = _components(configuration.linear, rows, configuration.latent.size, seed)
    encode = torch.from_numpy(fitted.components_.astype(np.float32))  # (D, pixels)
    decode = torch.from_numpy(_back(fitted).astype(np.float32))  # (pixels, D)
    mean = torch.from_numpy(fitted.mean_.astype(np.float32))
    _put(model.encoder, encode, -encode @ mean)
    _put(model.decoder, decode, mean)


def _components(kind: Literal["pca", "ica"], rows: Any, latents: int, seed: int) -> Any:
    from sklearn.decomposition import PCA, FastICA

    if kind == "pca":
        return PCA(latents, random_state=seed).fit(rows)
    return FastICA(latents, whiten="unit-variance", max_iter=1000, tol=1e-3, random_state=seed).fit(rows)


def _back(fitted: Any) -> Any:
    """The map from codes to pixels (pixels, D)."""
    return fitted.mixing_ if hasattr(fitted, "mixing_") else fitted.components_.T


def _put(module: nn.Module, weight: Tensor, bias: Tensor) -> None:
    layer = next(layer for layer in module.modules() if isinstance(layer, nn.Linear))
    with torch.no_grad():
        layer.weight.copy_(weight)
        assert layer.bias is not None
        layer.bias.copy_(bias)
