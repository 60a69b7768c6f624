from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.study.tiny import SPEC
from tests.training.hostile import CHANGES, TRACE, rewrite
from unweave.errors import InputError, Unavailable
from unweave.store.store import Store
from unweave.study import Study
from unweave.study.damaged_runs import set_aside_damaged


def test_a_store_is_a_folder_or_an_address(tmp_path: Path, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Store(tmp_path)
    assert (here.folder, here.address, here.work, here.remote) == (tmp_path, str(tmp_path), tmp_path, None)
    monkeypatch.setenv("UNWEAVE_STORE", bucket)
    there = Store()
    assert there.remote is not None
    assert there.address == bucket
    assert there.folder.parent == there.work.parent == there.remote.folder


def test_a_failed_run_is_forgotten_and_a_finished_one_is_not(copied: Path) -> None:
    study = Study(SPEC, store=copied)
    failed, unscored, finished = (copied / run.name for run in study.planned[:3])
    state = json.loads((failed / "state.json").read_text())
    (failed / "state.json").write_text(json.dumps(state | {"status": "failed", "error": "no luck"}))
    (unscored / "scores.json").unlink()
    (unscored / "scoring-error.txt").write_text("Traceback")
    assert study.status() == {"failed": 2, "finished": 4}
    for folder in (failed, unscored, finished):
        study.stored.forget_failure(folder.name)
    assert study.status() == {"not started": 1, "unscored": 1, "finished": 4}


@pytest.mark.parametrize("change", CHANGES)
def test_a_run_that_is_not_the_one_of_the_study_is_refused_and_runs_no_code(
    change: str, copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study(SPEC, store=copied)
    monkeypatch.chdir(tmp_path)
    rewrite(copied / study.planned[0].name, change, tmp_path)
    try:
        opened = {run.name for run in study.runs()}
    except (InputError, Unavailable):
        opened = set()
    assert study.planned[0].name not in opened
    assert study.planned[0].name in set_aside_damaged(study.stored, study.planned)
    assert not (tmp_path / TRACE).exists()


def test_a_store_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"the store must be a folder, but .*file is a file"):
        Store(tmp_path / "file" / "store").make()


def test_a_file_is_not_a_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"the store must be a folder, but .*file is a file"):
        Study(SPEC, store=tmp_path / "file")


def test_status_names_what_was_set_aside(copied: Path, tmp_path: Path) -> None:
    from unweave.cli.app import app

    study = Study(SPEC, store=copied)
    name = study.planned[0].name
    (copied / name / "scores.json").write_text("[{")
    set_aside_damaged(study.stored, study.planned)
    spec = tmp_path / "tiny.toml"
    spec.write_text(SPEC)
    shown = CliRunner().invoke(app, ["study", "status", str(spec), "--store", str(copied)])
    assert shown.exit_code == 0
    assert f"set aside as damaged: {name}-1" in shown.output
