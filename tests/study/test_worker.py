from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.study.tiny import SPEC
from unweave.errors import Away, Refused, Unavailable
from unweave.progress import told
from unweave.store.lock import locked
from unweave.store.state import read_state
from unweave.study.engines.worker import Report, Task, Worker
from unweave.study.grid import plan
from unweave.study.spec import parse_spec
from unweave.training import Configuration


def task(store: Path, **changes: Any) -> Task:
    spec = parse_spec(SPEC)
    fields = json.loads(plan(spec)[0].configuration.model_dump_json())
    given = {"metrics": ("mig", "elbo"), "scoring": spec.score.model_dump(), "execution": {"threads": 1}}
    return Task(**{"fields": fields, "store": str(store), **given, **changes})


def test_a_task_is_trained_and_scored(tmp_path: Path) -> None:
    report = Worker().carry_out(task(tmp_path))
    assert report.outcome == "finished"
    assert {entry["metric"] for entry in json.loads((tmp_path / report.run / "scores.json").read_text())} == {
        "mig",
        "elbo",
    }


def test_the_folder_says_what_is_measured_while_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given, seen = task(tmp_path), []
    doing = tmp_path / Configuration(**given.fields).name / "doing.txt"

    def watched(listener: Callable[[str], object]) -> AbstractContextManager[None]:
        def both(said: str) -> None:
            listener(said)
            seen.append(doing.read_text())

        return told(both)

    monkeypatch.setattr("unweave.study.engines.worker.told", watched)
    assert Worker().carry_out(given).outcome == "finished"
    assert seen == ["scoring mig", "scoring elbo"]
    assert not doing.exists()


def test_a_run_that_another_process_trains_is_busy(tmp_path: Path) -> None:
    name = Worker().carry_out(task(tmp_path / "a")).run
    with locked(tmp_path / "b" / name):
        report = Worker().carry_out(task(tmp_path / "b"))
    assert report == Report(name, "busy", report.seconds)


def test_a_failure_before_the_first_step_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr("unweave.study.engines.worker.fit", broken)
    report = Worker().carry_out(task(tmp_path))
    assert (report.outcome, report.error) == ("failed", "RuntimeError: no room")
    state = read_state(tmp_path / report.run)
    assert state is not None
    assert state.status == "failed"
    assert "RuntimeError: no room" in state.traceback


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (MemoryError("no room"), "elsewhere"),
        (torch.OutOfMemoryError("CUDA out of memory"), "elsewhere"),
        (OSError(28, "No space left on device"), "elsewhere"),
        (PermissionError(13, "Permission denied"), "elsewhere"),
        (caused(Unavailable("cannot write x."), OSError(30, "Read-only file system")), "elsewhere"),
        (Refused("the store does not permit this"), "elsewhere"),
        (Away("cannot reach the store"), "away"),
        (RuntimeError("shapes do not match"), "failed"),
        (FileNotFoundError(2, "No such file or directory"), "failed"),
        (Unavailable("the data is not downloaded"), "failed"),
    ],
)
def test_failures_of_the_machine_are_not_those_of_the_run(
    error: Exception, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("unweave.study.engines.worker.fit", broken)
    report = Worker().carry_out(task(tmp_path))
    assert report.outcome == outcome
    assert str(error) in report.error
    assert (read_state(tmp_path / report.run) is not None) == (outcome == "failed")


def test_torch_without_memory_is_a_failure_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unweave.study.engines.worker.fit", lambda *_, **__: torch.empty(2**50))
    report = Worker().carry_out(task(tmp_path))
    assert report.outcome == "elsewhere"
    assert "can't allocate memory" in report.error
