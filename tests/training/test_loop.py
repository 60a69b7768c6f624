from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

import unweave
from tests.training.small import SMALL, bars, pictures, trained
from unweave.errors import Diverged, InputError, Unavailable
from unweave.nets import Net
from unweave.recipes import RECIPES
from unweave.store.state import read_state
from unweave.training import Moment, loop
from unweave.training.assembly import build_model
from unweave.training.checkpoint import load_tensors, save_tensors
from unweave.training.configuration import configure
from unweave.training.trainer import launched

TINY_ADVERSARY = {"total_correlation_discriminator.width": 16}


def small_settings(recipe: str) -> dict[str, Any]:
    return TINY_ADVERSARY if recipe == "factor_vae" else {}


@pytest.mark.filterwarnings("ignore:FastICA did not converge")  # 72 images are soon known by heart
@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_trains_and_a_finished_run_is_not_trained_again(recipe: str, tmp_path: Path) -> None:
    settings = {**small_settings(recipe), "latents": 4, **({} if recipe in ("pca", "ica") else {"steps": 4})}
    settings |= {"batch": 9} if "triplet" in recipe else {}
    run = trained(tmp_path, recipe, **settings)
    assert run.state.status == "finished"
    assert run.state.psnr is not None
    codes = run.encode(bars().rows(torch.arange(5)))
    assert codes.shape == (5, 4)
    assert torch.isfinite(codes).all()
    written = (run.folder / "model.safetensors").stat().st_mtime_ns
    assert trained(tmp_path, recipe, **settings).name == run.name
    assert (run.folder / "model.safetensors").stat().st_mtime_ns == written


@pytest.mark.parametrize(
    "recipe", ["beta_vae", "factor_vae", "qlae", "tripod", "ada_gvae", "jl1_vae", "control_vae", "dfc_vae"]
)
def test_a_stopped_run_ends_in_the_same_bits(recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {**small_settings(recipe), "log_steps": 1}
    whole = trained(tmp_path / "whole", recipe, **settings)
    save = loop.Session._save

    def save_and_fall(session: Any) -> None:
        save(session)
        if session.done == 6:
            raise RuntimeError("power cut")

    monkeypatch.setattr(loop.Session, "_save", save_and_fall)
    with pytest.raises(RuntimeError, match="power cut"):
        trained(tmp_path / "parts", recipe, **settings, checkpoint_steps=2)
    monkeypatch.setattr(loop.Session, "_save", save)
    resumed = trained(tmp_path / "parts", recipe, **settings, checkpoint_steps=5)
    for name in ("model.safetensors", "checkpoint.safetensors", "log.jsonl", "summary.json"):
        assert (resumed.folder / name).read_bytes() == (whole.folder / name).read_bytes(), name
    assert [line["step"] for line in resumed.log] == list(range(1, 13))


def test_a_process_killed_at_random_moments_ends_in_the_same_bits(tmp_path: Path) -> None:
    """A real process, killed again and again by SIGKILL, SIGTERM and SIGINT, against one that was left alone."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.training.killing", str(tmp_path)],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    kills = json.loads(done.stdout.splitlines()[-1])
    assert sum(kills.values()) >= 8, kills


def test_the_seed_decides_every_bit_and_another_gives_another_run(tmp_path: Path) -> None:
    first, again, other = (
        trained(tmp_path / "a", steps=3),
        trained(tmp_path / "b", steps=3),
        trained(tmp_path / "a", steps=3, seed=1),
    )
    assert first.name == again.name != other.name
    assert (first.folder / "model.safetensors").read_bytes() == (again.folder / "model.safetensors").read_bytes()
    assert (first.folder / "model.safetensors").read_bytes() != (other.folder / "model.safetensors").read_bytes()


def test_training_touches_no_global_seed(tmp_path: Path) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    trained(tmp_path, steps=2)
    assert torch.equal(torch.get_rng_state(), before)


def test_divergence_names_step_and_term_and_keeps_the_last_good_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(Diverged, match=r"diverged: at step \d+ (reconstruction|kl|the updated weight .*) is (nan|inf)"):
        trained(tmp_path, lr=1e18, checkpoint_steps=1)
    (folder,) = tmp_path.iterdir()
    state = read_state(folder)
    assert state is not None
    assert state.status == "failed"
    assert "at step" in state.error
    assert not (folder / "model.safetensors").exists()
    if (folder / "checkpoint.safetensors").exists():
        assert all(torch.isfinite(value).all() for value in load_file(folder / "checkpoint.safetensors").values())
    with pytest.raises(Diverged, match="failed before"):
        trained(tmp_path, lr=1e18, checkpoint_steps=1)


def test_a_full_disk_is_a_sentence_and_the_run_goes_on_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = trained(tmp_path / "whole")
    save = save_tensors

    def full(path: Path, tensors: Any, metadata: Any) -> None:
        if metadata.get("step") == "8":
            with loop_writes_fail():
                save(path, tensors, metadata)
        save(path, tensors, metadata)

    class loop_writes_fail:  # noqa: N801
        def __enter__(self) -> None:
            monkeypatch.setattr("os.fsync", no_space)

        def __exit__(self, *_: object) -> None:
            monkeypatch.undo()

    monkeypatch.setattr(loop, "save_tensors", full)
    with pytest.raises(Unavailable, match="No space left on device"):
        trained(tmp_path / "parts", checkpoint_steps=4)
    monkeypatch.undo()
    folder = tmp_path / "parts" / whole.name
    assert not list(folder.glob("*.partial"))
    assert load_tensors(folder / "checkpoint.safetensors", whole.name)[1]["step"] == "4"
    resumed = trained(tmp_path / "parts")
    assert (resumed.folder / "model.safetensors").read_bytes() == (whole.folder / "model.safetensors").read_bytes()


def no_space(descriptor: int) -> None:
    raise OSError(28, "No space left on device")


def test_a_run_that_is_under_way_elsewhere_is_left_alone(tmp_path: Path) -> None:
    from filelock import FileLock

    run = trained(tmp_path)
    (run.folder / "state.json").unlink()
    with FileLock(run.folder / "lock"), pytest.raises(InputError, match="being trained by another process"):
        trained(tmp_path)


@pytest.mark.parametrize("damage", ["truncated", "foreign", "another"])
def test_a_checkpoint_that_is_not_this_runs_is_refused(damage: str, tmp_path: Path) -> None:
    run = trained(tmp_path)
    codes = run.encode(pictures()[:6, None])
    (run.folder / "state.json").unlink()
    path = run.folder / "checkpoint.safetensors"
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == "foreign":
        path.write_bytes(b"not a checkpoint")
    else:
        save_tensors(path, load_file(path), {"run": "0123456789abcdef", "step": "3"})
    expected = (
        r"another configuration" if damage == "another" else r"safetensors is damaged or .* Remove it, and the run"
    )
    with pytest.raises((Unavailable, InputError), match=expected):
        trained(tmp_path)
    path.unlink()  # as the message says
    assert torch.equal(trained(tmp_path).encode(pictures()[:6, None]), codes)


def test_snapshots_are_filtered_by_psnr(tmp_path: Path) -> None:
    run = trained(tmp_path, steps=10, snapshots=4)
    assert run.snapshots() == [3, 5, 8, 10]
    assert run.snapshots(psnr=1000) == []
    last = run.at(10)
    images = bars().rows(torch.arange(4))
    assert torch.equal(last.encode(images), run.encode(images))
    assert not torch.equal(run.at(3).encode(images), run.encode(images))
    with pytest.raises(InputError, match="has no snapshot at step 4"):
        run.at(4)


def test_learning_reconstructs(tmp_path: Path) -> None:
    run = trained(tmp_path, "ae", steps=150, lr=2e-3, batch=32)
    assert run.state.psnr is not None
    assert run.state.psnr > 20
    untrained = trained(tmp_path, "ae", steps=1)
    assert untrained.state.psnr is not None
    assert untrained.state.psnr < 15


def own_net(shape: tuple[int, int, int], outputs: int, latents: int) -> Net:
    """A net of the user's own."""
    return Net(
        nn.Sequential(nn.Flatten(), nn.Linear(256, outputs)),
        nn.Sequential(nn.Linear(latents, 256), nn.Unflatten(1, shape)),
    )


def test_ones_own_net_trains_and_is_found_again(tmp_path: Path) -> None:
    run = trained(tmp_path, "qlae", net=own_net)
    assert run.configuration.net.name == "tests.training.test_loop:own_net"
    images = bars().rows(torch.arange(3))
    assert torch.equal(unweave.open(run.folder).encode(images), run.encode(images))


def test_images_without_factors_train_too(tmp_path: Path) -> None:
    run = unweave.train("vae", unweave.load(pictures()), store=tmp_path, **{**SMALL, "steps": 2})
    assert run.configuration.data.num_images == 72


def test_mixed_precision_trains(tmp_path: Path) -> None:
    assert trained(tmp_path, steps=2, precision="bf16-mixed").state.status == "finished"


def test_nothing_is_written_where_nothing_fits(tmp_path: Path) -> None:
    for settings in ({"net": "conv64", "latent": "fsq"}, {"net": "nothing"}, {"steps": 0}, {"beta": -1.0}):
        with pytest.raises(InputError):
            trained(tmp_path / "store", **settings)
    with pytest.raises(InputError, match="multiples of 4"):
        unweave.train("vae", unweave.load(torch.zeros(4, 10, 10, dtype=torch.uint8)), store=tmp_path / "store", **SMALL)
    assert not (tmp_path / "store").exists()


def test_a_function_gets_every_line_of_the_log(tmp_path: Path) -> None:
    lines: list[dict[str, float]] = []
    run = trained(
        tmp_path, steps=7, log_steps=3, snapshots=2, log=lambda step, values: lines.append({"step": step, **values})
    )
    assert lines == run.log
    assert [line["step"] for line in lines if "loss" in line] == [3, 6, 7]
    assert sum("psnr" in line for line in lines) == 2
    with pytest.raises(InputError, match="log must be a function of a step and a dictionary"):
        trained(tmp_path, log="wandb")


def test_tensorboard_gets_what_the_log_gets(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    run = trained(tmp_path, steps=2, log_steps=1, tensorboard=True)
    assert list((run.folder / "tensorboard").glob("events*"))


def test_batches_of_pairs_lie_half_a_batch_apart(tmp_path: Path) -> None:
    data = bars()
    configuration, execution = configure("ada_gvae", data, {**SMALL, "changed": 1})
    model = build_model(configuration)
    fabric = launched(configuration, execution)
    session = loop.Session(configuration, execution, data, tmp_path, model, None, fabric)
    images: Tensor = session._images(0)
    assert images.shape == (8, 1, 16, 16)
    assert data.labels is not None
    table = {row.numpy().tobytes(): at for at, row in zip(data.labels, pictures(), strict=True)}
    points = torch.stack([table[(row * 255).round().byte()[0].numpy().tobytes()] for row in images])
    assert ((points[:4] != points[4:]).sum(1) == 1).all()


def dropping(shape: tuple[int, int, int], outputs: int, latents: int) -> Net:
    """A net that draws from torch's global generator."""
    net = own_net(shape, outputs, latents)
    return Net(nn.Sequential(nn.Dropout(0.5), net.encoder), net.decoder)


def test_a_net_with_dropout_is_seeded_too(tmp_path: Path) -> None:
    first, second = (trained(tmp_path / name, net=dropping) for name in "ab")
    assert (first.folder / "model.safetensors").read_bytes() == (second.folder / "model.safetensors").read_bytes()


def test_terms_that_come_later_leave_the_weights_alone_until_then(tmp_path: Path) -> None:
    late: dict[str, Any] = {"reconstruction.schedule": "delayed", "reconstruction.after": 5.0, "steps": 12}
    models: dict[int, Tensor] = {}

    def keep(moment: Moment) -> None:
        models[moment.step] = moment.representation.encode(images)

    images = bars().rows(torch.arange(4))
    still = trained(tmp_path, "ae", callback=keep, callback_steps=4, **late)
    start = build_model(still.configuration).eval()
    with torch.no_grad():
        code = start.code(images.float() / 255).z
    torch.testing.assert_close(models[4], code)
    assert not torch.allclose(models[8], code)


def test_a_finished_run_that_lost_a_file_is_made_whole(tmp_path: Path) -> None:
    run = trained(tmp_path)
    weights = (run.folder / "model.safetensors").read_bytes()
    for name in ("model.safetensors", "summary.json"):
        (run.folder / name).unlink()
        trained(tmp_path)
        assert (run.folder / name).exists()
    assert (run.folder / "model.safetensors").read_bytes() == weights


def test_what_a_kill_left_behind_is_cleared(tmp_path: Path) -> None:
    run = trained(tmp_path)
    (run.folder / "state.json").unlink()
    for name in (".checkpoint.safetensors.1.partial", ".tmpabc"):
        (run.folder / name).write_text("half")
    trained(tmp_path)
    assert not list(run.folder.glob(".*"))


def test_a_damaged_log_does_not_stop_a_run(tmp_path: Path) -> None:
    run = trained(tmp_path, log_steps=1)
    (run.folder / "state.json").unlink()
    with (run.folder / "log.jsonl").open("ab") as log:
        log.write(b'5\n{"a": 1}\n\xff')
    assert [line["step"] for line in trained(tmp_path, log_steps=1).log] == list(range(1, 13))


def test_a_device_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(InputError, match="this machine has no device 'cuda'"):
        trained(tmp_path / "store", device="cuda")
    assert not (tmp_path / "store").exists()
