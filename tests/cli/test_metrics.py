from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import run
from unweave.metrics import METRICS


@pytest.fixture
def matrices(tmp_path: Path) -> tuple[Path, Path]:
    """Codes and factors on disk, one latent a factor."""
    factors = np.random.default_rng(0).integers(0, 4, (300, 2))
    np.save(tmp_path / "codes.npy", factors * 2.0)
    (tmp_path / "factors.csv").write_text("a,b\n" + "\n".join(f"{a},{b}" for a, b in factors))
    return tmp_path / "codes.npy", tmp_path / "factors.csv"


def test_score_prints_a_table_or_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], matrices: tuple[Path, Path]
) -> None:
    codes, factors = map(str, matrices)
    words = ("score", "--codes", codes, "--factors", factors, "--metric", "mig", "--metric", "dci")
    assert run(monkeypatch, *words) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["dci.disentanglement", "1.0000", "higher", "0", "to", "1"] in rows
    assert run(monkeypatch, *words, "--json") == 0
    assert json.loads(capsys.readouterr().out)["mig"] == pytest.approx(0.996, abs=1e-3)


def test_metrics_are_listed_and_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "metrics", "list") == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in METRICS)
    assert run(monkeypatch, "metrics", "show", "dci") == 0
    shown = capsys.readouterr().out
    for words in ("importance='svm'", "higher is better", "Eastwood & Williams 2018", "weakness"):
        assert words in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["score", "--codes", "nowhere.npy"], "there is no file nowhere.npy"),
        (["score", "--codes", "codes.txt"], "there is no file"),
        (["score"], "Missing option '--codes'"),
        (["metrics", "show", "migg"], "did you mean 'mig'"),
        (["score", "--codes", "codes.npy", "--metric", "irs"], "needs the power to intervene"),
    ],
)
def test_wrong_words_to_the_metrics_are_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    matrices: tuple[Path, Path],
    words: list[str],
    message: str,
) -> None:
    assert run(monkeypatch, *words) == 2
    assert message in capsys.readouterr().err
