"""Ctrl-C in a terminal, which sends SIGINT to the launcher of a study and to all of its workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.study import tiny
from unweave.store.folder import CHECKPOINT, LOG, runs_in
from unweave.store.state import read_state
from unweave.training.checkpoint import load_tensors

ROOT = Path(__file__).parents[2]
LAUNCH = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored
from unweave.cli import main
if __name__ == "__main__":
    main()
"""
SPEC = """
name = "long"

[fixed]
steps = 10_000_000
batch = 4
latents = 2
net = "tests.study.tiny:linear"
recipe = "beta_vae"

[[grid]]
data = "tests.study.tiny:Dots"
seeds = 2
"""


class Stuck(tiny.Dots):
    """Draws its fourth batch for a minute."""

    drawn = 0

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        self.drawn += 1
        if self.drawn == 4:
            (Path.cwd() / f"stuck-{os.getpid()}").touch()
            time.sleep(60)
        return super()._draw(factors, generator)


@pytest.fixture
def launch(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start a study of two workers in a process group of its own, as a terminal does."""

    def start(spec: str, *options: str) -> subprocess.Popen[str]:
        (tmp_path / "spec.toml").write_text(spec)
        (tmp_path / "launch.py").write_text(LAUNCH)
        command = [
            sys.executable,
            "launch.py",
            "study",
            "run",
            "spec.toml",
            "--store",
            "store",
            "--workers",
            "2",
            *options,
        ]
        paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
        return subprocess.Popen(
            command,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": paths},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    return start


def test_ctrl_c_leaves_a_checkpoint_of_every_run(launch: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    launcher = launch(SPEC)
    try:
        wait_for(lambda: len([log for log in tmp_path.glob(f"store/*/{LOG}") if log.stat().st_size]) == 2, launcher)
        os.killpg(launcher.pid, signal.SIGINT)
        said, _ = launcher.communicate(timeout=120)
    finally:
        kill_all(launcher)
    assert launcher.returncode == 130
    assert said.strip().splitlines()[-1] == "stopped; the same command continues."
    assert "Traceback" not in said
    runs = list(runs_in(tmp_path / "store"))
    assert len(runs) == 2
    for run in runs:
        state = read_state(run)
        assert state is not None
        assert state.status == "interrupted"
        _, metadata = load_tensors(run / CHECKPOINT, run.name)
        assert int(metadata["step"]) == state.step > 0


def test_a_second_ctrl_c_ends_at_once_and_keeps_the_last_checkpoint(
    launch: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    spec = SPEC.replace("tests.study.tiny:Dots", "tests.study.test_interrupt:Stuck")
    launcher = launch(spec, "--checkpoint-seconds", "1e-6")
    try:
        wait_for(lambda: len(list(tmp_path.glob("stuck-*"))) == 2, launcher)
        os.killpg(launcher.pid, signal.SIGINT)
        time.sleep(1)
        assert launcher.poll() is None  # it waits for the runs
        began = time.monotonic()
        os.killpg(launcher.pid, signal.SIGINT)
        said, _ = launcher.communicate(timeout=120)
        took = time.monotonic() - began
    finally:
        kill_all(launcher)
    assert launcher.returncode == 130
    assert took < 20
    assert "Traceback" not in said
    for mark in tmp_path.glob("stuck-*"):
        with pytest.raises(ProcessLookupError):
            os.kill(int(mark.name.partition("-")[2]), 0)
    runs = list(runs_in(tmp_path / "store"))
    assert len(runs) == 2
    for run in runs:
        _, metadata = load_tensors(run / CHECKPOINT, run.name)
        assert int(metadata["step"]) > 0


def wait_for(condition: Callable[[], bool], launcher: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert launcher.poll() is None, launcher.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.1)


def kill_all(launcher: subprocess.Popen[str]) -> None:
    """End what a failed test has left."""
    if launcher.poll() is None:
        os.killpg(launcher.pid, signal.SIGKILL)
