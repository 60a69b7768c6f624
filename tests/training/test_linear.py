from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA

from tests.training.small import bars, pictures, trained
from unweave.errors import InputError
from unweave.streams import stream


def test_principal_components_are_scikit_learns(tmp_path: Path) -> None:
    run = trained(tmp_path, "pca", latents=3, samples=200)
    rows = bars().sample(200, stream(0, "data")).images.flatten(1).numpy() / 255
    theirs = PCA(3).fit(rows)
    images = pictures()[:, None]
    expected = theirs.transform(images.flatten(1).numpy() / 255)
    codes = run.encode(images).numpy()
    np.testing.assert_allclose(np.abs(codes), np.abs(expected), atol=1e-4)
    back = theirs.inverse_transform(expected).clip(0, 1).reshape(-1, 1, 16, 16)
    np.testing.assert_allclose(run.decode(torch.from_numpy(codes)).numpy(), back, atol=1e-4)


def test_independent_components_are_independent_and_reconstruct_as_well(tmp_path: Path) -> None:
    pca, ica = (trained(tmp_path, recipe, latents=3, samples=500) for recipe in ("pca", "ica"))
    codes = ica.encode(pictures()[:, None])
    assert torch.corrcoef(codes.T).fill_diagonal_(0).abs().max() < 0.25
    assert ica.state.psnr == pytest.approx(pca.state.psnr, abs=0.01)


def test_too_many_components_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="500 images of 256 pixels have fewer than 300 components"):
        trained(tmp_path, "pca", latents=300, samples=500)
