"""An estimator in the sense of scikit-learn, so that a recipe can be part of a pipeline."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from unweave.data import load
from unweave.errors import InputError
from unweave.training import Run, train

Images = NDArray[Any]
Floats = NDArray[np.floating[Any]]


class Estimator(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A recipe that is fitted to images and transforms images to codes.

    Images are uint8, or floats from 0 to 1, of shape (N, H, W), (N, H, W, C) or (N, C, H, W). After ``fit``, ``run_``
    is the run, for everything else that Unweave does with one.

    Args:
        recipe: A recipe as for :func:`unweave.train`.
        steps: The number of steps; by default the published one of the recipe, which takes hours.
        random_state: The seed of the run.
        settings: Other settings of the recipe and of the run, such as ``{"beta": 4, "net": "mlp"}``.
        store: Where the run is kept, so that the same fit is not trained twice; by default a folder
            that is removed with the run.

    Examples:
        >>> import numpy as np, unweave
        >>> images = np.random.default_rng(0).random((20, 16, 16))
        >>> codes = unweave.Estimator("pca", settings={"latents": 3}).fit_transform(images)
        >>> codes.shape
        (20, 3)
    """

    def __init__(
        self,
        recipe: str = "beta_vae",
        *,
        steps: int | None = None,
        random_state: int = 0,
        settings: Mapping[str, Any] | None = None,
        store: str | Path | None = None,
    ) -> None:
        self.recipe = recipe
        self.steps = steps
        self.random_state = random_state
        self.settings = settings
        self.store = store

    def fit(self, X: Images, y: object = None) -> Self:  # noqa: N803
        """Train the recipe on images; ``y`` is ignored, as by all transformers that need no labels."""
        if not isinstance(self.settings, Mapping | None):
            raise InputError(f"settings must be a mapping of names to values, got {self.settings!r}.")
        data = load(np.asarray(X))
        given = dict(self.settings or {}) | ({} if self.steps is None else {"steps": self.steps})
        if self.store is not None:
            self.run_: Run = train(self.recipe, data, store=self.store, seed=self.random_state, **given)
            return self
        store = tempfile.mkdtemp(prefix="unweave-")
        try:
            self.run_ = train(self.recipe, data, store=store, seed=self.random_state, **given)
        except BaseException:  # also if it was interrupted: nobody could continue a run in a folder that nobody knows
            shutil.rmtree(store, ignore_errors=True)
            raise
        weakref.finalize(self.run_, shutil.rmtree, store, ignore_errors=True)
        return self

    def transform(self, X: Images) -> Floats:  # noqa: N803
        """Return the codes (N, D) of images: posterior means, or quantised values."""
        check_is_fitted(self)
        data = load(np.asarray(X))
        codes: Floats = self.run_.encode(data.rows(torch.arange(len(X)))).numpy()
        return codes

    def inverse_transform(self, X: Floats) -> Floats:  # noqa: N803
        """Return the images (N, C, H, W), floats from 0 to 1, that codes (N, D) are decoded to."""
        check_is_fitted(self)
        images: Floats = self.run_.decode(torch.as_tensor(np.asarray(X), dtype=torch.float32)).numpy()
        return images

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the latents: z0, z1 and so on."""
        check_is_fitted(self)
        return np.array([f"z{latent}" for latent in range(self.run_.model.latent.size)], dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.no_validation = True  # images are checked by unweave.load
        return tags
