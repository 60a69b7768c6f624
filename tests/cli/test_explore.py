from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.training.small import trained


def test_it_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    made = trained(tmp_path / "runs", steps=2)
    program = str(Path(sys.executable).with_name("unweave"))
    words = [program, "explore", made.name, "--store", "runs", "--port", "0", "--no-browser"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        said = server.stdout.readline()
        assert said.startswith(f"run {made.name}: http://127.0.0.1:")
        with urllib.request.urlopen(said.split()[2] + "api/page", timeout=60) as answer:
            assert made.name in answer.read().decode()
        server.send_signal(signal.SIGINT)
        _, problems = server.communicate(timeout=60)
    assert "Traceback" not in problems


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["nothing"], "there is no run 'nothing'"),
        (["nothing.toml"], "cannot read the study"),
        (["--store", "nowhere"], "there is no store nowhere"),
        ([], "train a run first"),
    ],
)
def test_what_is_not_there_is_a_sentence(
    words: list[str], problem: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "explore", *words) == 2
    assert problem in capsys.readouterr().err
