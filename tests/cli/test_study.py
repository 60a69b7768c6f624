from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.study.tiny import SPEC

SMALL = SPEC.replace("beta = [1, 4]", "beta = [1]").replace("seeds = 2", "seeds = 1")


def test_a_study_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("study.toml").write_text(SMALL)
    assert run(monkeypatch, "study", "plan", "study.toml") == 0
    shown = capsys.readouterr().out
    assert "tiny: 3 runs" in shown
    assert "varies: recipe, beta, seed" in shown
    assert run(monkeypatch, "study", "run", "study.toml", "--workers", "1") == 0
    assert "finished" in capsys.readouterr().out
    assert run(monkeypatch, "study", "status", "study.toml", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"finished": 3}
    for ending in ("csv", "parquet", "json"):
        assert run(monkeypatch, "study", "table", "study.toml", "--out", f"table.{ending}") == 0
        assert Path(f"table.{ending}").stat().st_size > 100
    assert run(monkeypatch, "study", "plan", "study.toml", "--json") == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plan", "nowhere.toml"], "cannot read the study nowhere.toml"),
        (["run", "study.toml", "--part", "1"], "--part takes I/N"),
        (["table", "study.toml", "--out", "table.txt"], "must end in .csv, .parquet or .json"),
    ],
)
def test_wrong_words_are_a_sentence(
    words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("study.toml").write_text(SMALL)
    assert run(monkeypatch, "study", *words) == 2
    assert message in capsys.readouterr().err
