from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import run
from tests.training.small import trained


def test_export_writes_both_halves_and_says_how_well_they_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = trained(tmp_path / "runs", "pca")
    assert run(monkeypatch, "export", made.name[:6]) == 0
    folder = tmp_path / f"pca-{made.name[:8]}"
    assert {path.name for path in folder.iterdir()} == {"encoder.onnx", "decoder.onnx"}
    shown = capsys.readouterr().out
    assert shown.count("largest difference from PyTorch") == 2
    assert run(monkeypatch, "export", made.name, "--out", "here") == 0
    assert (tmp_path / "here" / "decoder.onnx").exists()


def test_the_recipe_of_a_foreign_run_cannot_choose_where_files_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = trained(tmp_path / "runs", "pca")
    path = made.folder / "configuration.json"
    path.write_text(path.read_text().replace('"recipe": "pca"', '"recipe": "../../elsewhere"'))
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert run(monkeypatch, "export", str(made.folder)) == 0
    assert [path.name for path in Path.cwd().iterdir()] == [f".._.._elsewhere-{made.name[:8]}"]


def test_wrong_words_are_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = trained(tmp_path / "runs", "pca")
    (tmp_path / "file").touch()
    assert run(monkeypatch, "export", made.name, "--out", "file") == 2
    assert "is a file" in capsys.readouterr().err
    assert run(monkeypatch, "export", "nothing") != 0
