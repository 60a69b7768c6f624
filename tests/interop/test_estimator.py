"""The estimator keeps scikit-learn's conventions and gives the codes of its run."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

import unweave
from unweave.errors import Diverged, InputError
from unweave.interop import Estimator

SMALL: dict[str, Any] = {"net": "mlp", "latents": 3, "batch": 16, "lr": 1e-3}


@pytest.fixture
def images() -> NDArray[np.uint8]:
    """Half of the images are dark and half are bright, with noise."""
    noise = np.random.default_rng(0).integers(0, 60, (64, 8, 8), dtype=np.uint8)
    return noise + np.repeat([0, 180], 32).astype(np.uint8)[:, None, None]


CHECKS = [  # those that do not pass matrices to an estimator, which needs images
    estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_estimator_tags_renamed,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_mixin_order,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_set_params,
    estimator_checks.check_valid_tag_types,
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_checks_of_scikit_learn(check: Any) -> None:
    check("Estimator", Estimator(steps=2, settings=SMALL))


def test_codes_and_images_are_those_of_the_run(images: NDArray[np.uint8], tmp_path: Path) -> None:
    estimator = Estimator("beta_vae", steps=3, settings=SMALL, store=tmp_path)
    codes = estimator.fit_transform(images)
    run = unweave.train("beta_vae", unweave.load(images), steps=3, seed=0, store=tmp_path, **SMALL)
    assert run.name == estimator.run_.name
    np.testing.assert_array_equal(codes, run.encode(unweave.load(images).rows(torch.arange(64))).numpy())
    assert list(estimator.get_feature_names_out()) == ["z0", "z1", "z2"]
    shown = estimator.inverse_transform(codes)
    assert shown.shape == (64, 1, 8, 8)
    assert shown.min() >= 0
    assert shown.max() <= 1
    np.testing.assert_allclose(estimator.transform(images / 255), codes, atol=1e-6)


def test_a_pipeline_predicts_from_codes(images: NDArray[np.uint8]) -> None:
    labels = np.repeat([0, 1], 32)
    pipeline = make_pipeline(Estimator("pca", settings={"latents": 2}), LogisticRegression())
    assert pipeline.fit(images, labels).score(images, labels) == 1.0
    again = clone(pipeline).set_params(estimator__settings={"latents": 3}).fit(images, labels)
    assert again[0].run_.model.latent.size == 3


def test_an_estimator_refuses_what_it_cannot_use(images: NDArray[np.uint8]) -> None:
    with pytest.raises(NotFittedError):
        Estimator().transform(images)
    with pytest.raises(InputError, match="beta_vae"):
        Estimator("betavae", steps=2).fit(images)
    with pytest.raises(InputError):
        Estimator("pca").fit(images.astype(float) * 1000)


def test_the_folder_of_a_fit_goes_with_its_run_and_with_its_failure(
    images: NDArray[np.uint8], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    estimator = Estimator("pca", settings={"latents": 2}).fit(images)
    assert [path.name[:8] for path in tmp_path.iterdir()] == ["unweave-"]
    del estimator.run_
    gc.collect()
    assert list(tmp_path.iterdir()) == []
    for recipe, settings in (("betavae", {}), ("beta_vae", {**SMALL, "lr": 1e30})):  # refused, and diverged
        with pytest.raises((InputError, Diverged)):
            Estimator(recipe, steps=30, settings=settings).fit(images)
        assert list(tmp_path.iterdir()) == []


def test_settings_must_have_names(images: NDArray[np.uint8]) -> None:
    with pytest.raises(InputError, match=r"settings must be a mapping .* got \[1\]"):
        Estimator("pca", settings=[1]).fit(images)  # type: ignore[arg-type]
