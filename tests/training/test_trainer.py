from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from torch import nn

import unweave
from tests.training.small import SMALL, bars, pictures, trained
from unweave.errors import Diverged, InputError
from unweave.nets import Net
from unweave.store.state import read_state, status_of
from unweave.streams import stream
from unweave.training import Moment, loop


def test_the_outcome_says_what_was_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert trained(tmp_path, steps=6).outcome == "trained"
    assert trained(tmp_path, steps=6).outcome == "opened"
    step = loop.Session.step

    def fall(session: Any, number: int) -> Any:
        if number == 4:
            raise RuntimeError("too large")
        return step(session, number)

    monkeypatch.setattr(loop.Session, "step", fall)
    with pytest.raises(RuntimeError):
        trained(tmp_path, steps=8, checkpoint_steps=2)
    (folder,) = (path for path in tmp_path.iterdir() if path.name != trained(tmp_path, steps=6).name)
    state = read_state(folder)
    assert state is not None
    assert (state.status, state.step, state.error) == ("failed", 4, "too large")
    assert "RuntimeError: too large" in state.traceback
    assert status_of(folder, state.status) == "failed"
    monkeypatch.undo()
    assert trained(tmp_path, steps=8).outcome == "continued"  # what was no fault of the configuration is tried again


def test_a_run_that_diverges_before_any_checkpoint_does_not_claim_one(tmp_path: Path) -> None:
    with pytest.raises(Diverged, match="There was no checkpoint yet"):
        trained(tmp_path, lr=1e30, steps=50)
    with pytest.raises(Diverged, match=r"failed before: .* Remove it to train it again"):
        trained(tmp_path, lr=1e30, steps=50)


def test_the_state_records_threads_and_time(tmp_path: Path) -> None:
    state = trained(tmp_path, steps=2).state
    assert state.threads == 1
    assert state.time > 1.7e9
    assert not (tmp_path / trained(tmp_path, steps=2).name / "heartbeat").exists()


@pytest.mark.parametrize("recipe", ["beta_vae", "qlae", "factor_vae"])
def test_a_longer_run_is_continued_to_the_same_bits(recipe: str, tmp_path: Path) -> None:
    small: dict[str, Any] = {"total_correlation_discriminator.width": 16} if recipe == "factor_vae" else {}
    short = trained(tmp_path / "a", recipe, steps=5, log_steps=1, **small)
    longer = unweave.extend(short, 9, threads=1, device="cpu", checkpoint_seconds=0, log_steps=1, data=bars())
    whole = trained(tmp_path / "b", recipe, steps=9, log_steps=1, **small)
    assert longer.name == whole.name
    for name in ("model.safetensors", "checkpoint.safetensors", "log.jsonl", "summary.json"):
        assert (longer.folder / name).read_bytes() == (whole.folder / name).read_bytes(), name
    assert short.folder.exists()
    assert longer.outcome == "continued"


def test_a_run_whose_schedules_depend_on_its_length_is_not_continued(tmp_path: Path) -> None:
    ramped = trained(tmp_path, "jl1_vae", steps=4)
    with pytest.raises(InputError, match="the schedule of the term kl depends on the total number of steps"):
        unweave.extend(ramped, 8)
    kept = trained(tmp_path, steps=4, snapshots=2)
    with pytest.raises(InputError, match="the spacing of the snapshots depends on the total"):
        unweave.extend(kept, 8)
    with pytest.raises(InputError, match=r"steps must be .* of at least 5, got 3"):
        unweave.extend(trained(tmp_path, steps=4), 3)


def test_a_callback_sees_the_model_as_it_is(tmp_path: Path) -> None:
    seen: list[Moment] = []
    codes = []
    images = bars().rows(torch.arange(3))

    def watch(moment: Moment) -> None:
        seen.append(moment)
        codes.append(moment.representation.encode(images))

    run = trained(tmp_path / "watched", callback=watch, callback_steps=4)
    assert [(moment.step, moment.steps) for moment in seen] == [(4, 12), (8, 12), (12, 12)]
    assert set(seen[0].values) == {"loss", "reconstruction", "kl"}
    assert torch.equal(codes[-1], run.encode(images))
    alone = trained(tmp_path / "alone")  # to the same bits
    assert (run.folder / "model.safetensors").read_bytes() == (alone.folder / "model.safetensors").read_bytes()
    with pytest.raises(InputError, match="callback_steps must be"):
        trained(tmp_path, callback=watch, callback_steps=0)


def test_a_label_names_a_run_and_changes_nothing(tmp_path: Path) -> None:
    run = trained(tmp_path, label="first try")
    assert run.label == "first try"
    assert trained(tmp_path).name == run.name
    assert trained(tmp_path).label == "first try"
    assert unweave.open("first try", store=tmp_path).name == run.name
    assert unweave.open(run.name[:8], store=tmp_path, device="cpu").name == run.name
    with pytest.raises(InputError, match="must not look like a path"):
        trained(tmp_path, label="a/b")


def test_the_label_is_there_during_training(tmp_path: Path) -> None:
    seen = []
    (folder,) = {tmp_path / trained(tmp_path / "named").name}

    def look(_: object) -> None:
        seen.append((folder / "label").read_text().strip())

    trained(tmp_path, label="early", callback=look, callback_steps=4)
    assert seen
    assert set(seen) == {"early"}


def test_more_threads_than_cores_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"threads must be at most the number of cores of this machine, .* got 9999"):
        unweave.train("vae", bars(), store=tmp_path / "store", **{**SMALL, "threads": 9999})
    assert not (tmp_path / "store").exists()


def test_a_penalty_of_second_derivatives_is_refused_on_piecewise_linear_decoders(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"the Hessian of this one is zero almost everywhere: choose net.activation=gelu"
    ):
        trained(tmp_path / "store", "tripod", None, **{"net.activation": "relu"})
    assert not (tmp_path / "store").exists()


def test_a_callback_can_traverse_and_sample_any_latent(tmp_path: Path) -> None:
    shapes = []

    def watch(moment: Moment) -> None:
        view = moment.representation
        shapes.append(view.traverse(view.encode(bars().rows(torch.arange(1)))[0], steps=3).shape)
        shapes.append(view.sample(2, torch.Generator().manual_seed(0)).shape)

    trained(tmp_path, "qlae", steps=2, latents=4, callback=watch, callback_steps=2)
    assert shapes == [(4, 3, 1, 16, 16), (2, 1, 16, 16)]


def relu_net(shape: tuple[int, int, int], outputs: int, latents: int) -> Net:
    """A piecewise linear net of the user's own, without ``activations``."""
    decoder = nn.Sequential(nn.Linear(latents, 20), nn.ReLU(), nn.Linear(20, 256), nn.Unflatten(1, shape))
    return Net(nn.Sequential(nn.Flatten(), nn.Linear(256, outputs)), decoder)


@pytest.mark.parametrize("net", [relu_net, "linear"])
def test_piecewise_linear_decoders_of_ones_own_are_refused_too(net: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="zero almost everywhere"):
        trained(tmp_path / "store", "tripod", net=net)


@pytest.mark.parametrize(("error", "status"), [(RuntimeError, "failed"), (MemoryError, "interrupted")])
def test_a_failure_outside_the_loop_is_recorded_too(
    error: type[Exception], status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise error("too large")

    monkeypatch.setattr("unweave.training.trainer.fit_linear", broken)
    monkeypatch.setattr("unweave.training.loop.main_optimiser", broken)
    for recipe in ("pca", "ae"):
        with pytest.raises(error):
            trained(tmp_path / recipe, recipe)
        (folder,) = (tmp_path / recipe).iterdir()
        state = read_state(folder)
        assert state is not None
        assert (state.status, state.error) == (status, "too large")  # which a failure of the machine does not end
        assert error.__name__ in state.traceback
    monkeypatch.undo()
    assert trained(tmp_path / "ae", "ae").outcome == "trained"


def test_runs_are_extended_by_name(tmp_path: Path) -> None:
    data = unweave.load("xysquares", size=16)
    run = trained(tmp_path, "ae", data=data, steps=1)
    assert unweave.extend(run.name[:8], 2, store=tmp_path, threads=1).state.step == 2
    with pytest.raises(InputError, match="callback must be a function"):
        trained(tmp_path, callback=5)


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
