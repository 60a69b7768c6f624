from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import unweave
from tests.cli.running import run
from tests.training.small import pictures
from unweave.data.dsprites import DSprites
from unweave.errors import InputError
from unweave.store.folder import runs_in

QUICK = ["--steps", "4", "--batch", "8", "--net", "conv16", "--threads", "1", "--device", "cpu"]


@pytest.fixture
def bars(tmp_path: Path) -> str:
    np.save(tmp_path / "bars.npy", pictures().numpy())
    return "./bars.npy"


def test_train_makes_a_run_and_says_where(
    bars: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--set", "beta=2", "--lr", "1e-3", "--seed", "3", "--set", "kl.schedule=cosine"]
    assert run(monkeypatch, "train", "beta_vae", bars, *QUICK, *words, "--pictures", "seen") == 0
    (folder,) = runs_in(tmp_path / "runs")
    opened = unweave.open(folder)
    configuration = opened.configuration
    assert (configuration.steps, configuration.batch, configuration.seed) == (4, 8, 3)
    assert configuration.optimiser.lr == 1e-3
    assert [(w.name, w.weight, w.schedule.kind) for w in configuration.terms] == [
        ("reconstruction", 1.0, "constant"),
        ("kl", 2.0, "cosine"),
    ]
    shown = capsys.readouterr().out
    assert "PSNR" in shown
    assert str(folder.name) in shown
    assert "trained: <run" in shown
    for name in ("reconstructions", "traversals"):
        with Image.open(tmp_path / "seen" / f"beta_vae-{folder.name[:8]}-{name}.png") as picture:
            assert picture.width > 500
    assert run(monkeypatch, "train", "beta_vae", bars, *QUICK, *words, "--quiet") == 0
    assert "opened, already finished" in capsys.readouterr().out


def test_a_run_is_trained_again_from_its_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--latent", "fsq", "--term", "jacobian_l1=0.1", "--set", "jacobian_l1.columns=1", "--seed", "7"]
    settings = ["--set", "snapshots=2", "--label", "mine", "--quiet"]
    assert run(monkeypatch, "train", "ae", "xysquares,size=16", *QUICK, *words, *settings) == 0
    (folder,) = runs_in(Path("runs"))
    for source in ("mine", folder.name[:6], str(folder), str(folder / "configuration.json")):
        assert run(monkeypatch, "train", "--from", source, "--quiet") == 0
        assert "opened, already finished" in capsys.readouterr().out
    (tmp_path / "copy.json").write_bytes((folder / "configuration.json").read_bytes())
    assert run(monkeypatch, "train", "--from", "copy.json", "--store", "again", "--quiet") == 0
    assert [path.name for path in runs_in(Path("again"))] == [folder.name]  # the same hash of everything
    changes = ["--seed", "8", "--set", "data.spacing=2", "--set", "latent.levels=5"]
    assert (
        run(monkeypatch, "train", "--from", "mine", "--store", "other", "--quiet", *changes) == 2
    )  # not in that store
    assert run(monkeypatch, "train", "--from", str(folder), "--store", "other", "--quiet", *changes) == 0
    (other,) = (unweave.open(path).configuration for path in runs_in(Path("other")))
    assert (other.seed, other.latent.levels, other.snapshots, other.steps) == (8, 5, 2, 4)  # type: ignore[attr-defined]
    assert (other.data.options["size"], other.data.options["spacing"]) == (16, 2)
    assert (other.recipe, other.base) == ("ae+fsq+jacobian_l1", "ae")


def test_a_composed_recipe_trains_and_scores(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--latent", "fsq", "--term", "kernel_multiinformation=1e-4", "--term", "jacobian_l1=0.1"]
    data = ["xysquares", "--set", "data.size=16", "--set", "latent.levels=5"]
    metric = ["--metric", "mig", "--metric", "active_units"]
    assert run(monkeypatch, "train", "ae", *data, *QUICK, *words, *metric) == 0
    (folder,) = runs_in(Path("runs"))
    run_of = unweave.open(folder)
    assert run_of.configuration.latent.model_dump() == {"size": 10, "levels": 5}
    assert [w.name for w in run_of.configuration.terms] == ["reconstruction", "jacobian_l1", "kernel_multiinformation"]
    assert run_of.configuration.data.options["size"] == 16
    shown = capsys.readouterr().out
    assert "mig" in shown
    assert "active_units" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "train takes RECIPE and DATA"),
        (["beta_vae"], "train takes RECIPE and DATA"),
        (["beta_vae", "BARS", "--from", "x"], "--from takes the recipe from the run"),
        (["--from", "nowhere.json"], "nowhere.json is not a run"),
        (["beta_vae", "BARS", "--beta", "3"], "there is no option --beta: did you mean --set beta=3?"),
        (
            ["vae", "BARS", "--beta", "3"],
            "settings are given as --set beta=3, but vae has no setting 'beta': use beta_vae, which has it.",
        ),
        (["--beta=3", "vae", "BARS"], "--set beta=3, but vae has no setting 'beta': use beta_vae"),
        (["beta_vae", "BARS", "--weight-decay", "1"], "did you mean --set optimiser.weight_decay=1?"),
        (["beta_vae", "BARS", "--learning-rate", "0.1"], "no option --learning-rate: did you mean --lr 0.1?"),
        (["beta_vae", "BARS", "--size=32"], "there is no option --size: did you mean --set data.size=32?"),
        (["beta_vae", "BARS", "--betta", "3"], "there is no option --betta: did you mean --set beta=3?\n"),
        (
            ["beta_vae", "BARS", "--set", "zzqq=3"],
            "unknown setting of beta_vae 'zzqq': unweave recipes show beta_vae lists all; the main ones are "
            "beta, latents, steps, batch, lr, seed, net.\n",
        ),
        (["beta_vae", "BARS", "--sed", "3"], "there is no option --sed: did you mean --seed?"),
        (["beta_vae", "xysquares", "--set", "learning_rate=1e-3"], "did you mean 'lr'?"),
        (
            ["beta_vae", "xysquares", "--set", "size=32"],
            "unknown setting of beta_vae 'size': did you mean 'data.size'?",
        ),
        (["vae", "xysquares", "--set", "beta=2"], "vae has no setting 'beta': use beta_vae, which has it."),
        (["ae", "xysquares", "--set", "beta=2"], "ae has no setting 'beta': use beta_vae, which has it."),
        (["vae", "xysquares,size=16", "--set", "data.size=16"], "data.size is given twice"),
        (["vae", "xysquares", "--set", "metrics=mig,sapp"], "unknown metric 'sapp': did you mean 'sap'"),
        (["vae", "xysquares", "--metric", "mig,sapp"], "unknown metric 'sapp': did you mean 'sap'"),
        (["beta_vae", "xysquares", "--set", "gamma=2"], "use annealed_vae or factor_vae or jl1_vae or jl2_vae"),
        (["beta_vae", "BARS", "--metric", "MIG"], "unknown metric 'MIG': did you mean 'mig'?"),
        (["betavae", "BARS"], "unknown recipe 'betavae': did you mean 'beta_vae'"),
        (["beta_vae", "dsprite"], "unknown data set 'dsprite': did you mean 'dsprites'"),
        (["beta_vae", "BARS", "--net", "conv61"], "unknown net 'conv61': did you mean"),
        (["beta_vae", "BARS", "--set", "bета=2"], "unknown setting of beta_vae"),
        (["beta_vae", "BARS", "--set", "bta=2"], "unknown setting of beta_vae 'bta': did you mean 'beta'"),
        (["beta_vae", "BARS", "--set", "beta=-1"], "weight must be greater than or equal to 0, got -1"),
        (["beta_vae", "BARS", "--set", "steps=3"], "steps is given twice, by --steps and by --set steps"),
        (["beta_vae", "BARS", "--set", "beta=1", "--set", "beta=2"], "--set beta is given twice"),
        (["beta_vae", "BARS", "--set", "latents=True"], "latents must not be a boolean"),
        (["beta_vae", "BARS", "--set", "kl.over=0.5"], "kl.over has no effect on a constant schedule"),
        (["beta_vae", "BARS", "--set", "grouping=gvae"], "beta_vae with grouping=gvae is the recipe ada_gvae"),
        (["beta_vae", "BARS", "--threads", "9999"], "threads must be at most the number of cores"),
        (["beta_vae", "BARS", "--store", ""], "the store must be a folder, got an empty name"),
        (["ae", "BARS", "--metric", "elbo"], "elbo"),
        (["beta_vae", "BARS", "--pictures", "/proc/nothing"], "--pictures: cannot write to"),
        (["beta_vae", "BARS", "--set", "kl.wait=2"], "unknown setting of beta_vae 'kl.wait'"),
        (["beta_vae", "BARS", "--set", "beta"], "--set takes KEY=VALUE"),
        (["beta_vae", "BARS", "--term", "kl=much"], "--term takes NAME=WEIGHT with a number"),
        (["beta_vae", "BARS", "--term", "kll=1"], "unknown term 'kll': did you mean 'kl'"),
        (["beta_vae", "BARS", "--latent", "fsq"], "the term kl cannot be combined with the latent fsq"),
        (["ae", "BARS", "--term", "kl=1"], "the term kl cannot be combined with the latent deterministic"),
        (["ae", "BARS", "--latent", "fsk"], "unknown latent 'fsk': did you mean 'fsq'"),
        (["ada_gvae", "BARS"], "needs an image of every combination of factors"),
        (["beta_vae", "BARS", "--steps", "0"], "steps must be greater than or equal to 1, got 0"),
        (["beta_vae", "BARS", "--net", "conv64", "--set", "data.size=20"], "multiples of 16"),
        (["beta_vae", "BARS", "--lr", "0"], "lr must be greater than 0"),
        (["beta_vae", "BARS", "--precision", "8"], "precision must be '32-true'"),
        (["beta_vae", "BARS", "--device", "toaster"], "device must be"),
        (["beta_vae", "BARS", "--threads", "0"], "threads must be greater than or equal to 1"),
        (["beta_vae", "BARS", "--seed", "-1"], "seed must be greater than or equal to 0"),
        (["jl1_vae", "BARS", "--set", "jacobian_l1.columns=11"], "columns must be at most the number of latents"),
        (["vae", "BARS", "--set", "latents=0"], "size must be greater than or equal to 1"),
        (["ae", "BARS", "--term", "reconstruction=0"], "no term reconstructs the images"),
        (["beta_vae", "BARS", "--metric", "migg"], "unknown metric 'migg'"),
        (["beta_vae", "BARS", "--metric", "mig"], "has no factors, only images"),
        (["beta_vae", "BARS", "--pictures", "./bars.npy"], "--pictures takes a folder"),
    ],
)
def test_what_does_not_fit_is_a_sentence_before_any_training(
    words: list[str],
    message: str,
    bars: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [bars if word == "BARS" else word for word in words]
    quick = [] if "--net" in given else ["--net", "conv16"]
    assert run(monkeypatch, "train", *given, *quick, *([] if "--steps" in given else ["--steps", "2"])) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1
    assert not (tmp_path / "runs").exists()


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
@pytest.mark.parametrize(
    "more", [["--device", "cuda"], ["--set", "device=cuda"], ["--set", "bta=2"], ["--metric", "m"]]
)
def test_nothing_is_drawn_before_everything_was_checked(more: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DSprites, "prepare", lambda self: pytest.fail("drawn"))
    assert run(monkeypatch, "train", "beta_vae", "dsprites", *more) == 2
    settings = {"device": "cuda"} if "cuda" in more[1] else {"bta": 2}
    with pytest.raises(InputError):
        unweave.train("beta_vae", "dsprites", **settings)


def test_a_store_below_a_file_is_refused_before_torch_is_imported() -> None:
    without = "import sys; sys.modules['torch'] = None; from unweave.cli import main; main()"
    command = [sys.executable, "-c", without, "train", "beta_vae", "dsprites", "--store", "/dev/null/x"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (2, "unweave: the store must be a folder, but /dev/null is a file.\n")
    with pytest.raises(InputError, match="/dev/null is a file"):
        unweave.train("beta_vae", "dsprites", store="/dev/null/x")


def test_ctrl_c_keeps_what_was_done_and_the_same_words_go_on(bars: str, tmp_path: Path) -> None:
    words = [str(Path(sys.executable).with_name("unweave")), "train", "beta_vae", bars, *QUICK]
    words[words.index("--steps") + 1] = "100000"
    process = subprocess.Popen(words, cwd=tmp_path, env=os.environ | {"OMP_NUM_THREADS": "1"})
    while not list(tmp_path.glob("runs/*/log.jsonl")):
        time.sleep(0.1)
        assert process.poll() is None
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    (folder,) = runs_in(tmp_path / "runs")
    opened = unweave.open(folder)
    assert opened.state.status == "interrupted"
    assert opened.state.step > 0


@pytest.mark.slow
def test_several_devices_train_one_run(tmp_path: Path) -> None:
    words = [str(Path(sys.executable).with_name("unweave")), "train", "factor_vae", "xysquares", *QUICK]
    words += ["--devices", "2", "--set", "data.size=16", "--set", "log_steps=1"]
    words += ["--set", "total_correlation_discriminator.width=16"]
    done = subprocess.run(
        words, cwd=tmp_path, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("PSNR") == 1
    (folder,) = runs_in(tmp_path / "runs")
    assert [line["step"] for line in unweave.open(folder).log] == [1, 2, 3, 4]
