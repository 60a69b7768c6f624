from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from tests.study.test_worker import task
from unweave.errors import Stopped
from unweave.store.lock import locked
from unweave.store.state import read_state
from unweave.study.engines import processes
from unweave.study.engines.queue import ATTEMPTS, Queue
from unweave.study.engines.worker import Outcome, Report, Worker
from unweave.training import Configuration


def test_a_run_whose_worker_is_killed_again_and_again_has_failed(tmp_path: Path) -> None:
    wanted = task(tmp_path)
    name = Configuration(**wanted.fields).name
    said: list[Report] = []
    queue = Queue({name: wanted}, said.append)
    for _ in range(ATTEMPTS - 1):
        assert queue.take() == (name, wanted)
        queue.lose(name)
        assert (len(queue), said) == (1, [])
    queue.take()
    queue.lose(name)
    assert (len(queue), said) == (0, [Report(name, "failed", 0.0, "its worker was killed 5 times")])
    state = read_state(tmp_path / name)
    assert state is not None
    assert (state.status, state.error) == ("failed", "its worker was killed 5 times")


def test_a_worker_that_is_killed_while_it_scores_leaves_a_failure_of_scoring(tmp_path: Path) -> None:
    name = Worker().carry_out(task(tmp_path, metrics=("mig",))).run
    wanted = task(tmp_path)  # with another metric
    queue = Queue({name: wanted}, lambda said: None)
    for _ in range(ATTEMPTS):
        queue.take()
        queue.lose(name)
    assert (tmp_path / name / "scoring-error.txt").read_text() == "its worker was killed 5 times\n"
    state = read_state(tmp_path / name)
    assert state is not None
    assert state.status == "finished"


def test_runs_that_another_launcher_trains_wait_behind_the_others(tmp_path: Path) -> None:
    said: list[Report] = []
    queue = Queue({"a": task(tmp_path), "b": task(tmp_path)}, said.append)
    for _ in range(3 * ATTEMPTS):  # however often
        name, _ = queue.take()
        assert not queue.answer(Report(name, "busy", 0.0), "here")
    assert (len(queue), said) == (2, [])
    name, _ = queue.take()
    assert queue.answer(Report(name, "finished", 1.0), "here")
    assert said == [Report(name, "finished", 1.0)]


def test_a_lost_run_that_another_launcher_trains_waits_for_it_and_is_finished(tmp_path: Path) -> None:
    wanted = task(tmp_path)
    said: list[Report] = []
    name = Configuration(**wanted.fields).name
    queue = Queue({name: wanted}, said.append)
    for _ in range(ATTEMPTS - 1):
        queue.take()
        queue.lose(name)
    queue.take()
    with locked(tmp_path / name):
        queue.lose(name)
    assert (len(queue), said) == (1, [])
    Worker().carry_out(wanted)  # by the other
    queue.take()
    queue.lose(name)
    assert said == [Report(name, "finished", 0.0)]
    assert not (tmp_path / name / "scoring-error.txt").exists()


def test_a_machine_that_fails_twice_in_a_row_is_set_aside(tmp_path: Path) -> None:
    said: list[Report] = []
    queue = Queue({name: task(tmp_path) for name in "abcd"}, said.append)

    def answer(outcome: Outcome, machine: str, error: str = "") -> str:
        name, _ = queue.take()
        assert queue.answer(Report(name, outcome, 0.0, error), machine)
        return name

    assert answer("elsewhere", "bad", "full.") == "a"
    assert not queue.is_aside("bad")
    assert answer("finished", "bad") == "b"
    assert answer("elsewhere", "bad", "full.") == "c"
    assert not queue.is_aside("bad")  # not in a row
    assert answer("elsewhere", "good", "broken.") == "d"
    assert answer("elsewhere", "bad", "read-only.") == "a"
    assert (queue.is_aside("bad"), queue.is_aside("good")) == (True, False)
    assert answer("away", "good", "cannot reach the store.") == "c"  # which has waited long enough
    assert queue.is_aside("good")
    assert str(queue.stopped()) == (
        "no machine is left that can train runs: bad (read-only), good (cannot reach the store)."
    )
    assert answer("finished", "bad") == "d"  # it was under way
    assert not queue.is_aside("bad")
    assert (len(queue), [(report.run, report.outcome) for report in said]) == (
        2,
        [("b", "finished"), ("d", "finished")],
    )
    assert not list(tmp_path.iterdir())


def test_a_run_for_which_many_machines_are_too_small_has_failed(tmp_path: Path) -> None:
    wanted = task(tmp_path)
    name = Configuration(**wanted.fields).name
    said: list[Report] = []
    queue = Queue({name: wanted}, said.append)
    for number in range(ATTEMPTS):
        assert (len(queue), said) == (1, [])
        queue.take()
        queue.answer(Report(name, "elsewhere", 0.0, "no memory"), f"machine {number}")
    assert (len(queue), said) == (0, [Report(name, "failed", 0.0, "no memory")])
    state = read_state(tmp_path / name)
    assert state is not None
    assert (state.status, state.error) == ("failed", "no memory")


def test_workers_of_a_cluster_that_die_before_they_begin_are_no_attempts(tmp_path: Path) -> None:
    queue = Queue({"a": task(tmp_path)}, lambda said: None)
    for _ in range(ATTEMPTS - 1):
        queue.take()
        queue.lose("a", ready=False)
    for _ in range(ATTEMPTS - 1):
        queue.take()
        queue.lose("a")
    assert len(queue) == 1
    queue.take()
    with pytest.raises(Stopped, match=r"worker processes were killed 5 times before they were ready"):
        queue.lose("a", ready=False)


def _die(connection: object, environment: object) -> None:
    """Die before the first task, as while importing."""


def test_workers_that_die_before_they_are_ready_are_no_attempts_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "work", _die)
    monkeypatch.setattr(multiprocessing, "get_context", lambda kind: multiprocessing.context.ForkContext())
    said: list[Report] = []
    with pytest.raises(Stopped, match=r"worker processes were killed 5 times before they were ready"):
        processes.run_tasks({"a": task(tmp_path)}, 1, said.append, lambda names, waiting_for: None)
    assert said == []
    assert not list(tmp_path.iterdir())
