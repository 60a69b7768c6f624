from __future__ import annotations

from pathlib import Path

import pytest
import torch

import unweave
from tests.training.small import bars, pictures, trained
from unweave import Run
from unweave.errors import InputError, Unavailable

IMAGES = pictures()[:6, None]


@pytest.fixture(scope="module", params=["beta_vae", "ae", "qlae", "tripod"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("store"), request.param, latents=4, steps=30, lr=1e-3)


def test_what_is_opened_is_what_was_trained(run: Run) -> None:
    opened = unweave.open(run.folder)
    assert opened.name == run.name
    assert torch.equal(opened.encode(IMAGES), run.encode(IMAGES))
    assert repr(opened).endswith("finished at step 30>")


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
        assert run.settings == {"infomec": {"discrete": True}}


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
    grid = run.traverse(code, steps=5)
    assert grid.shape == (4, 5, 1, 16, 16)
    ranges = run._ranges(5, 2.0)
    for latent in range(4):
        moved = code.repeat(5, 1)
        moved[:, latent] = ranges[latent]
        torch.testing.assert_close(grid[latent], run.decode(moved))


def test_samples_come_from_the_prior_or_from_the_marginals(run: Run) -> None:
    first, again = (run.sample(7, torch.Generator().manual_seed(1)) for _ in range(2))
    assert first.shape == (7, 1, 16, 16)
    assert torch.equal(first, again)
    assert run.sample(0, torch.Generator()).shape == (0, 1, 16, 16)


def test_the_summary_describes_the_codes(run: Run) -> None:
    codes = run.encode(pictures()[:, None])
    summary = run.summary
    torch.testing.assert_close(torch.tensor(summary.mean), codes.mean(0), atol=0.1, rtol=0.2)
    assert sorted(summary.order) == [0, 1, 2, 3]
    if summary.kl is not None:
        mean, logvar = run.posterior(pictures()[:, None])
        kl = (0.5 * (mean**2 + logvar.exp() - logvar - 1)).mean(0)
        torch.testing.assert_close(torch.tensor(summary.kl), kl, atol=0.1, rtol=0.2)
        assert summary.order[0] == int(torch.tensor(summary.kl).argmax())
    if summary.usage is not None:
        assert torch.tensor(summary.usage).sum(1).tolist() == pytest.approx([1.0] * 4)


def test_a_run_scores_with_the_metrics(run: Run) -> None:
    scores = unweave.score(run, bars(), metrics=["mig", "infomec"], samples=40, settings=run.settings)
    assert set(scores) == {"mig", "infomec"}


def test_wrong_input_is_a_sentence(run: Run) -> None:
    with pytest.raises(InputError, match=r"takes images \(B, 1, 16, 16\), got \(2, 3, 16, 16\)"):
        run.encode(torch.zeros(2, 3, 16, 16))
    with pytest.raises(InputError, match="uint8, or floats"):
        run.encode(torch.zeros(2, 1, 16, 16, dtype=torch.int64))
    with pytest.raises(InputError, match=r"takes codes \(B, 4\), got \(2, 5\)"):
        run.decode(torch.zeros(2, 5))
    with pytest.raises(InputError, match="steps of a traversal"):
        run.traverse(torch.zeros(4), steps=1)
    with pytest.raises(InputError, match=r"must lie in \[0, 1\], got 0 to 255"):
        run.encode(IMAGES.float())
    with pytest.raises(InputError, match="must lie in"):
        run.encode(torch.full((1, 1, 16, 16), float("nan")))
    with pytest.raises(InputError, match="images must be a tensor, got NoneType"):
        run.encode(None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="span must be a number"):
        run.traverse(torch.zeros(4), span=float("nan"))
    assert run.jacobian(torch.zeros(0, 4)).shape == (0, 4, 1, 16, 16)
    if run.summary.kl is None:
        with pytest.raises(InputError, match="has no posterior"):
            run.posterior(IMAGES)


def test_what_is_no_run_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a run"):
        unweave.open(tmp_path)
    made = trained(tmp_path, steps=2)
    weights = made.folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(Unavailable, match="damaged"):
        unweave.open(made.folder)
    weights.unlink()
    assert torch.equal(unweave.open(made.folder).encode(IMAGES), made.encode(IMAGES))  # from the checkpoint
    (made.folder / "checkpoint.safetensors").unlink()
    with pytest.raises(Unavailable, match="has no weights yet"):
        unweave.open(made.folder)
