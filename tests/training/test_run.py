from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

import unweave
from tests.training.small import bars, pictures, trained
from unweave import Run
from unweave.errors import InputError, Unavailable
from unweave.metrics import psnr
from unweave.streams import stream
from unweave.training.run import MEASURED, measure_baseline, measure_psnr, summarise

IMAGES = pictures()[:6, None]


@pytest.fixture(scope="module", params=["beta_vae", "ae", "qlae"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("store"), request.param, latents=4, steps=30, lr=1e-3)


def test_what_is_opened_is_what_was_trained(run: Run) -> None:
    opened = unweave.open(run.folder)
    assert opened.name == run.name
    assert torch.equal(opened.encode(IMAGES), run.encode(IMAGES))
    assert repr(opened).endswith("finished at step 30>")
    with pytest.raises(InputError, match="device 'nonsense'"):
        unweave.open(run.folder, device="nonsense")


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


def test_what_is_no_run_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a run"):
        unweave.open(tmp_path)
    with pytest.raises(InputError, match="there is no run 'abc' in the store"):
        unweave.open("abc", store=tmp_path)
    with pytest.raises(InputError, match="takes the folder or the name of a run, got 3"):
        unweave.open(3)  # type: ignore[arg-type]
    made = trained(tmp_path, steps=2)
    weights = made.folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(
        Unavailable, match=rf"damaged .* Remove the folder {made.folder}, and train or download the run"
    ):
        unweave.open(made.folder)
    shutil.rmtree(made.folder)  # as the message says
    assert torch.equal(trained(tmp_path, steps=2).encode(IMAGES), made.encode(IMAGES))
    weights.unlink()
    assert torch.equal(unweave.open(made.folder).encode(IMAGES), made.encode(IMAGES))  # from the checkpoint
    (made.folder / "checkpoint.safetensors").unlink()
    with pytest.raises(Unavailable, match="has no weights yet"):
        unweave.open(made.folder)


def test_a_run_finds_its_data_again(tmp_path: Path) -> None:
    data = unweave.load("xysquares", size=16)
    run = trained(tmp_path, "ae", data=data, steps=1)
    assert unweave.open(run.folder).data().identity == data.identity
    in_memory = trained(tmp_path, "ae", data=bars(), steps=1)
    with pytest.raises((InputError, Unavailable), match="pass the data"):
        in_memory.data()


def test_the_summary_and_the_psnr_are_those_of_the_codes(tmp_path: Path) -> None:
    run = trained(tmp_path, steps=30, lr=1e-3, latents=4)
    data = bars()
    again = summarise(run.model, run.configuration, data)
    assert again == run.summary
    images = data.sample(MEASURED, stream(0, "psnr")).images
    assert measure_psnr(run.model, run.configuration, data) == pytest.approx(
        psnr(images, run.reconstruct(images)).score
    )


def test_the_baseline_is_the_psnr_of_the_mean_image(tmp_path: Path) -> None:
    run = trained(tmp_path, steps=1)
    mean = pictures().float().mean(0) / 255
    errors = [float(((row.float() / 255 - mean) ** 2).mean()) for row in pictures()]
    expected = sum(-10 * torch.tensor(error).log10() for error in errors) / 72
    assert measure_baseline(run.configuration, bars()) == pytest.approx(float(expected), abs=0.2)
    assert run.hint.startswith("This run reconstructs barely better than the mean image")
    longer = trained(tmp_path, "ae", steps=150, lr=2e-3, batch=32)
    assert longer.hint == ""
