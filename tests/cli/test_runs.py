from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import run
from tests.training.small import trained


def test_runs_are_listed_shown_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = (trained(tmp_path / "runs", steps=2, seed=seed, log_steps=1) for seed in (0, 1))
    assert run(monkeypatch, "runs", "list") == 0
    shown = capsys.readouterr().out
    assert shown.index(first.name) < shown.index(second.name)
    assert "2 of 2" in shown
    assert run(monkeypatch, "runs", "show", first.name[:6], "--store", "runs") == 0
    shown = capsys.readouterr().out
    assert '"recipe": "beta_vae"' in shown
    assert "finished" in shown
    assert "reconstruction" in shown
    assert run(monkeypatch, "runs", "rm", first.name, str(tmp_path / "runs" / second.name)) == 0
    assert not first.folder.exists()
    assert not second.folder.exists()


def test_the_store_can_be_set_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("UNWEAVE_STORE", str(tmp_path / "elsewhere"))
    trained(None, steps=2)  # type: ignore[arg-type]
    assert len(list((tmp_path / "elsewhere").iterdir())) == 1
    assert run(monkeypatch, "runs", "list") == 0
    assert "beta_vae" in capsys.readouterr().out


def test_wrong_runs_are_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "runs", "show", "abc") == 2
    assert "there is no run 'abc'" in capsys.readouterr().err
    kept = trained(tmp_path / "runs", steps=2)
    assert run(monkeypatch, "runs", "rm", kept.name, "abc") == 2
    assert kept.folder.exists()
    (kept.folder / "configuration.json").write_text("{")
    assert run(monkeypatch, "runs", "list") == 0
    assert "is damaged" in capsys.readouterr().out
