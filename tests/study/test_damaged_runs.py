from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.study.conftest import tasks
from tests.study.tiny import SPEC
from unweave.errors import OtherVersion
from unweave.store.damage import damage_of, damaged_in, set_aside
from unweave.store.folder import runs_in
from unweave.store.lock import Busy, locked
from unweave.store.record import read_record
from unweave.study import Study
from unweave.study.damaged_runs import set_aside_damaged
from unweave.study.engines.worker import Worker


def cut(name: str, length: int) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_bytes((folder / name).read_bytes()[:length])

    return change


def other_seed(folder: Path) -> None:
    path = folder / "configuration.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"seed": 99}))


DAMAGE: dict[str, tuple[Callable[[Path], None], str]] = {
    "state cut": (cut("state.json", 20), "state.json is damaged"),
    "state empty": (cut("state.json", 0), "state.json is damaged"),
    "configuration cut": (cut("configuration.json", 30), "configuration.json is damaged"),
    "configuration gone": (lambda folder: (folder / "configuration.json").unlink(), "has no configuration.json"),
    "configuration of another run": (other_seed, "but its folder is named"),
    "scores cut": (cut("scores.json", 50), "scores.json is damaged"),
    "weights cut": (cut("model.safetensors", 500), "it is not as long as its header says"),
    "weights empty": (cut("model.safetensors", 0), "it is not as long as its header says"),
    "weights gone": (lambda folder: (folder / "model.safetensors").unlink(), "is finished, but it has no model"),
    "checkpoint cut": (cut("checkpoint.safetensors", -1), "it is not as long as its header says"),
    "summary cut": (cut("summary.json", 9), "summary.json is damaged"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_found(copied: Path, kind: str) -> None:
    study = Study(SPEC, store=copied)
    name = study.planned[0].name
    assert set_aside_damaged(study.stored, study.planned) == {}
    change, expected = DAMAGE[kind]
    change(copied / name)
    assert (damage_of(read_record(copied / name)) == "") == (kind == "configuration of another run")
    assert expected in set_aside_damaged(study.stored, study.planned)[name]


def test_damaged_runs_are_set_aside_and_trained_again(copied: Path) -> None:
    study = Study(SPEC, store=copied)
    broken = [run.name for run in study.planned[:2]]
    weights = (copied / broken[1] / "model.safetensors").read_bytes()
    cut("state.json", 20)(copied / broken[0])
    cut("model.safetensors", 500)(copied / broken[1])
    assert study.status() == {"damaged": 1, "finished": 5}  # weights are only looked at before training
    aside = set_aside_damaged(study.stored, study.planned)
    assert list(aside) == broken
    assert damaged_in(copied) == sorted(f"{name}-1" for name in broken)
    assert "header" in (copied / "damaged" / f"{broken[1]}-1" / "reason.txt").read_text()
    assert study.status() == {"not started": 2, "finished": 4}
    assert len(runs_in(copied)) == 4
    worker = Worker()
    assert [worker.carry_out(task).outcome for task in tasks(study)] == ["finished"] * 2
    assert study.status() == {"finished": 6}
    assert (copied / broken[1] / "model.safetensors").read_bytes() == weights  # the same run again
    assert set_aside_damaged(study.stored, study.planned) == {}


def test_a_run_that_is_damaged_twice_is_set_aside_twice(copied: Path) -> None:
    folder = runs_in(copied)[0]
    assert set_aside(folder, "one").name == f"{folder.name}-1"
    folder.mkdir()
    assert set_aside(folder, "two").name == f"{folder.name}-2"
    assert (copied / "damaged" / f"{folder.name}-2" / "reason.txt").read_text() == "two\n"


def test_a_run_that_is_being_trained_is_not_set_aside(copied: Path) -> None:
    study = Study(SPEC, store=copied)
    folder = copied / study.planned[0].name
    cut("state.json", 20)(folder)
    with locked(folder):
        with pytest.raises(Busy):
            set_aside(folder, "damage")
        assert set_aside_damaged(study.stored, study.planned) == {}
    assert folder.is_dir()


@pytest.mark.parametrize("kind", ["state", "configuration", "name"])
def test_runs_of_another_version_are_refused_and_stay(copied: Path, kind: str) -> None:
    study = Study(SPEC, store=copied)
    folder = copied / study.planned[0].name
    state, configuration = folder / "state.json", folder / "configuration.json"
    later = {"version": "unweave 99.0, torch 2.6"} | ({"mood": "good"} if kind == "state" else {})
    state.write_text(json.dumps(json.loads(state.read_text()) | later))
    more = {"state": {}, "configuration": {"dreams": True}, "name": {"seed": 99}}[kind]
    configuration.write_text(json.dumps(json.loads(configuration.read_text()) | more))
    cut("state.json", 20)(copied / study.planned[1].name)
    with pytest.raises(OtherVersion, match=r"this store has 1 run of another version\. .* written by unweave 99.0"):
        study.run(workers=1)
    assert folder.is_dir()
    assert not (copied / "damaged").exists()  # nothing is moved
    assert study.status() == {
        "damaged": 1,
        **({"other version": 1} if kind == "state" else {}),
        "finished": 4 + (kind != "state"),
    }
