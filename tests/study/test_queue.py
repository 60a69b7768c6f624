from __future__ import annotations

from pathlib import Path

from tests.study.test_worker import task
from unweave.store.state import read_state
from unweave.study.engines.queue import ATTEMPTS, Queue
from unweave.study.engines.worker import Report, Worker
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
    wanted = task(tmp_path)
    name = Worker().carry_out(wanted).run
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
        assert not queue.answer(Report(name, "busy", 0.0))
    assert (len(queue), said) == (2, [])
    name, _ = queue.take()
    assert queue.answer(Report(name, "finished", 1.0))
    assert said == [Report(name, "finished", 1.0)]
