from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import run
from tests.training.small import trained


def test_a_report_from_the_command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    made = trained(Path("runs"), "pca", latents=2)
    assert run(monkeypatch, "report", made.name[:6], "--quiet") == 0
    assert "wrote report.html" in capsys.readouterr().out
    text = Path("report.html").read_text()
    assert "the images were an array in memory" in text  # figures need the data
    assert "In Python, with the same array as data" in text


def test_a_report_of_codes_has_the_metrics_that_are_named_and_notes_without_code() -> None:
    np.save("factors.npy", np.indices((5, 4)).reshape(2, -1).T.repeat(3, axis=0))  # (60, 2)
    words = ["report", "--codes", "factors.npy", "--factors", "factors.npy", "--metric", "mig,factor_vae_score", "-q"]
    command = [sys.executable, "-c", "from unweave.cli import main; main()", *words]  # pytest catches warnings here
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    assert said.startswith("note: factor_vae_score: 9 of 9 values of factors have fewer than 64 samples")
    assert "warn" not in said
    text = Path("report.html").read_text()
    assert all(title in text for title in ("MIG", "FactorVAE score"))
    assert "SAP" not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["report", "nothing"], "there is no run 'nothing'"),
        (["report", "nothing", "--out", "report.pdf"], "--out must end in .html"),
        (["report", "nothing", "--out", "a.html", "--out", "b.html"], "--out is given twice"),
        (["report", "nothing", "--bins", "5"], "there is no option --bins.\n"),
        (["report", "nothing", "--size", "32"], "there is no option --size: did you mean --set data.size=32?"),
        (["report", "nothing", "--set", "size=32"], "name it with --data, as in xysquares,size=32"),
    ],
)
def test_wrong_words_are_a_sentence(
    words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *words) == 2
    assert message in capsys.readouterr().err
