from __future__ import annotations

import json
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest

from tests.study.conftest import tasks
from tests.study.tiny import SPEC
from unweave.errors import Unavailable
from unweave.store.files import versions
from unweave.store.lock import Busy
from unweave.store.remote.address import open_remote
from unweave.store.remote.checkout import Delivery, checked_out
from unweave.store.remote.claims import RunClaim
from unweave.store.state import State, write_state
from unweave.study import Study
from unweave.study.engines.worker import Worker
from unweave.training.loop import Session

ONE = SPEC.replace("beta = [1, 4]\nseed = [0, 1]", "beta = 4\nseed = 0").replace("seeds = 2", "seeds = 1")


def test_a_folder_is_used_as_it_is(tmp_path: Path) -> None:
    with checked_out(str(tmp_path), "run") as checkout:
        assert checkout.store == tmp_path


def test_a_run_is_trained_here_and_delivered_whole(bucket: str, trained: Path) -> None:
    study = Study(ONE, store=bucket)
    task = tasks(study)[0]
    report = Worker().carry_out(task)
    assert (report.outcome, report.error) == ("finished", "")
    remote = open_remote(bucket)
    files = {path.partition("/")[2]: path for path in remote.objects.list(f"{report.run}/")}
    expected = {path.name for path in (trained / report.run).iterdir() if "lock" not in path.name}
    assert set(files) == expected
    for name in ("model.safetensors", "checkpoint.safetensors", "summary.json", "configuration.json"):
        assert remote.objects.read(files[name]) == (trained / report.run / name).read_bytes()
    assert not list(remote.work.iterdir())
    assert not remote.objects.list("claims/")
    marks = remote.objects.list()
    assert Worker().carry_out(task).outcome == "finished"  # as if another launcher had planned it
    assert remote.objects.list() == marks  # it was opened, not trained again


def test_new_metrics_are_added_to_runs_that_were_trained_elsewhere(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = Worker()
    (task, _) = tasks(Study(ONE, store=bucket))
    worker.carry_out(task)
    before = open_remote(bucket).objects.list()
    monkeypatch.setenv("UNWEAVE_CACHE", str(tmp_path / "another machine"))
    open_remote.cache_clear()
    more = Study(ONE.replace('["mig"]', '["mig", "modularity"]'), store=bucket)
    assert more.status() == {"unscored": 1, "not started": 1}
    worker.carry_out(tasks(more)[0])
    after = open_remote(bucket).objects.list()
    changed = {path for path in after if before.get(path) != after[path] and not path.startswith("index/")}
    assert {path.partition("/")[2] for path in changed} == {"scores.json", "state.json"}  # which has their checksum
    assert more.status() == {"finished": 1, "not started": 1}


def test_failures_are_kept_with_their_traceback_and_retried(bucket: str) -> None:
    study = Study(ONE.replace("beta = 4", "lr = 1e30").replace("steps = 3", "steps = 60"), store=bucket)
    worker = Worker()
    task = tasks(study)[0]
    report = worker.carry_out(task)
    assert report.outcome == "failed"
    state = json.loads(open_remote(bucket).objects.read(f"{report.run}/state.json") or b"")
    assert "diverged" in state["error"]
    assert "Traceback" in state["traceback"]
    assert study.status() == {"failed": 1, "not started": 1}
    assert len(tasks(study)) == 1  # not tried again
    study._forget_failures()
    assert len(tasks(study)) == 2


def test_an_upload_that_is_cut_short_leaves_nothing_and_is_repeated(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut after each number of objects in turn: the run is in the store whole, or not at all."""
    study = Study(ONE, store=bucket)
    remote, worker, task = open_remote(bucket), Worker(), tasks(study)[0]
    genuine = {name: getattr(Delivery, name) for name in ("_copy", "_put_state")}
    trained = []
    for allowed in range(8):
        count = iter(range(allowed))

        def cut(name: str, *given: Any, count: Any = count) -> None:
            if next(count, None) is None:
                raise Unavailable("cannot reach the store")
            genuine[name](*given)

        for name in genuine:
            monkeypatch.setattr(
                Delivery, name, partialmethod(lambda self, name, *given, cut=cut: cut(name, self, *given), name)
            )
        report = worker.carry_out(task)
        trained.append((remote.work / report.run / "log.jsonl").stat().st_mtime_ns if allowed < 7 else 0)
        if allowed < 7:
            assert (report.outcome, report.error) == ("failed", "cannot reach the store")
            assert len(remote.objects.list(f"{report.run}/")) == allowed
            assert study.status() == {"not started": 2}
        else:
            assert report.outcome == "finished"
    assert len(set(trained[:7])) == 1  # it was trained once, and then only delivered
    assert study.status() == {"finished": 1, "not started": 1}


def test_an_interrupted_run_continues_on_another_machine(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study(ONE.replace("steps = 3", "steps = 40"), store=bucket)
    task = study._tasks(None, {"threads": 1, "device": "cpu", "checkpoint_steps": 10, "log_steps": 10})
    name, wanted = next(iter(task.items()))
    genuine = Session._save

    def stop(self: Session) -> None:
        genuine(self)
        raise SystemExit(1)

    with monkeypatch.context() as patch:
        patch.setattr(Session, "_save", stop)
        with pytest.raises(SystemExit):
            Worker().carry_out(wanted)
    assert study.status() == {"interrupted": 1, "not started": 1}
    monkeypatch.setenv("UNWEAVE_CACHE", str(tmp_path / "another machine"))
    open_remote.cache_clear()
    again = Study(ONE.replace("steps = 3", "steps = 40"), store=bucket)
    assert Worker().carry_out(wanted).outcome == "finished"
    log = (open_remote(bucket).objects.read(f"{name}/log.jsonl") or b"").decode().splitlines()
    assert [json.loads(line)["step"] for line in log] == [10, 20, 30, 40]  # each step once
    assert again.status() == {"finished": 1, "not started": 1}


def test_an_owner_that_was_replaced_does_not_deliver(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = open_remote(bucket)
    run = "0123456789abcdef"
    with pytest.raises(Busy, match="was taken over"), checked_out(bucket, run) as checkout:  # noqa: PT012
        (checkout.store / run).mkdir(parents=True)
        write_state(checkout.store / run, State("finished", 3, versions()))
        new = RunClaim(remote.objects, run)
        assert new.take(remote.objects.look(f"claims/{run}"))  # another machine believes that this one is dead
        monkeypatch.setattr("unweave.store.remote.checkout.SOON", 0.0)
    assert remote.objects.list(f"{run}/") == {}
    assert json.loads(remote.objects.read(f"claims/{run}") or b"")["token"] == new.token


def test_an_owner_that_slept_does_not_overwrite_the_files_of_the_next(bucket: str) -> None:
    remote, run = open_remote(bucket), "0123456789abcdef"
    slept = RunClaim(remote.objects, run)
    assert slept.take()
    late = Delivery(remote, slept, 60.0)
    late.prepare(())
    folder = remote.work / run
    folder.mkdir(parents=True)
    (folder / "log.jsonl").write_text('{"step": 1}\n')
    write_state(folder, State("running", 1, versions()))
    remote.objects.write(f"{run}/log.jsonl", b"all steps")  # by another process, before this one knows that it has lost
    with pytest.raises(Busy, match="was taken over"):
        late._send(folder)
    assert remote.objects.read(f"{run}/log.jsonl") == b"all steps"
    assert f"{run}/state.json" not in remote.objects.list(f"{run}/")
