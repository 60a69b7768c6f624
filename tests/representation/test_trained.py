from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.training.small import bars, pictures, trained
from unweave import Run
from unweave.errors import InputError
from unweave.streams import stream

IMAGES = pictures()[:6, None]


@pytest.fixture(scope="module", params=["beta_vae", "ae", "qlae", "tripod"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("store"), request.param, latents=4, steps=30, lr=1e-3)


def test_images_may_be_bytes_or_floats(run: Run) -> None:
    torch.testing.assert_close(run.encode(IMAGES), run.encode(IMAGES.float() / 255))
    torch.testing.assert_close(run(IMAGES), run.encode(IMAGES))
    assert run.reconstruct(IMAGES).shape == IMAGES.shape
    assert 0 <= run.reconstruct(IMAGES).min() <= run.reconstruct(IMAGES).max() <= 1


def test_quantised_codes_are_values_of_the_codebook(run: Run) -> None:
    values = run.model.values
    assert run.discrete == (values is not None)
    if values is not None:
        codes = run.encode(IMAGES)
        assert all(set(codes[:, k].tolist()) <= set(values[k].tolist()) for k in range(4))


def test_the_jacobian_is_what_differences_say(run: Run) -> None:
    codes = run.encode(IMAGES)[:2]
    jacobian = run.jacobian(codes)
    assert jacobian.shape == (2, 4, 1, 16, 16)
    model = run.model.double()
    for latent in range(4):
        step = torch.zeros(4, dtype=torch.float64)
        step[latent] = 1e-6
        with torch.no_grad():
            change = model.decode(codes.double() + step) - model.decode(codes.double() - step)
        torch.testing.assert_close(jacobian[:, latent].double(), change / 2e-6, atol=1e-4, rtol=1e-3)
    model.float()


def test_a_traversal_moves_one_latent_at_a_time(run: Run) -> None:
    code = run.encode(IMAGES)[0]
    grid, values = run.traverse(code, steps=5), run.traversal_values(steps=5)
    assert grid.shape == (4, 5, 1, 16, 16)
    for latent in range(4):
        moved = code.repeat(5, 1)
        moved[:, latent] = values[latent]
        torch.testing.assert_close(grid[latent], run.decode(moved))


def test_any_latent_can_range_over_the_quantiles_of_its_codes(run: Run) -> None:
    values = run.traversal_values(steps=5, over="quantile")
    images = bars().sample(2_048, stream(run.configuration.seed, "summary")).images  # those of the summary
    low, high = np.quantile(run.encode(images).numpy(), [0.01, 0.99], axis=0)
    np.testing.assert_allclose(values[:, 0], low, atol=1e-4)
    np.testing.assert_allclose(values[:, 4], high, atol=1e-4)
    np.testing.assert_allclose(values[:, 2], (low + high) / 2, atol=1e-4)
    assert run.traverse(torch.zeros(4), steps=5, over="quantile").shape == (4, 5, 1, 16, 16)


def test_each_level_of_a_quantised_latent_is_shown_once(run: Run) -> None:
    if run.model.values is not None:
        values = run.traversal_values(steps=50)
        assert values.shape == run.model.values.shape
        assert torch.equal(values, run.model.values)


def test_samples_come_from_the_prior_or_from_the_marginals(run: Run) -> None:
    first, again = (run.sample(7, torch.Generator().manual_seed(1)) for _ in range(2))
    assert first.shape == (7, 1, 16, 16)
    assert torch.equal(first, again)
    assert run.sample(0, torch.Generator()).shape == (0, 1, 16, 16)


def test_wrong_input_is_a_sentence(run: Run) -> None:
    with pytest.raises(InputError, match=r"takes images \(B, 1, 16, 16\), got \(2, 3, 16, 16\)"):
        run.encode(torch.zeros(2, 3, 16, 16))
    with pytest.raises(InputError, match="uint8, or floats"):
        run.encode(torch.zeros(2, 1, 16, 16, dtype=torch.int64))
    with pytest.raises(InputError, match=r"takes codes \(B, 4\), got \(2, 5\)"):
        run.decode(torch.zeros(2, 5))
    with pytest.raises(InputError, match="steps of a traversal"):
        run.traverse(torch.zeros(4), steps=1)
    with pytest.raises(InputError, match=r"must be in \[0, 1\], got 0 to 255"):
        run.encode(IMAGES.float())
    with pytest.raises(InputError, match="must be in"):
        run.encode(torch.full((1, 1, 16, 16), float("nan")))
    with pytest.raises(InputError, match="images must be a tensor, got NoneType"):
        run.encode(None)  # type: ignore[arg-type]
    for span in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="span must be a positive number"):
            run.traverse(torch.zeros(4), span=span)
    with pytest.raises(InputError, match="unknown range 'quantiles'"):
        run.traverse(torch.zeros(4), over="quantiles")  # type: ignore[arg-type]
    if run.model.values is None:
        with pytest.raises(InputError, match="over=levels needs quantised latents"):
            run.traverse(torch.zeros(4), over="levels")
    if not run.has_posterior:
        with pytest.raises(InputError, match="over=prior needs a Gaussian posterior"):
            run.traverse(torch.zeros(4), over="prior")
    assert run.jacobian(torch.zeros(0, 4)).shape == (0, 4, 1, 16, 16)
    if not run.has_posterior:
        with pytest.raises(InputError, match="has no posterior"):
            run.posterior(IMAGES)


def test_standardised_models_decode_to_the_space_of_images(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"standardised": True, "likelihood": "gaussian", "steps": 150, "lr": 2e-3, "batch": 32}
    run = trained(tmp_path, "ae", **settings)
    assert run.state.psnr is not None
    assert run.state.psnr > 18
    assert (run.reconstruct(IMAGES) - IMAGES / 255).abs().mean() < 0.1
