"""Stores at an address behind a server with faults: claims, checkpoints, patience, damage, and requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import pytest
from typer.testing import CliRunner

from tests.store.test_record import FIELDS
from tests.study.conftest import tasks
from tests.study.faulty_server import FAULTS, Proxy
from tests.study.history import Event, Recorder, read_history, violations
from tests.study.simulated import STEPS, Cluster, Machine, finished_in, quick_claims
from tests.study.tiny import SPEC
from unweave.errors import Unavailable
from unweave.store.remote import objects as objects_module
from unweave.store.remote import shared_index
from unweave.store.remote.address import Remote, open_remote
from unweave.store.remote.checkout import Delivery, checked_out
from unweave.store.remote.claims import RunClaim
from unweave.store.state import State, write_state
from unweave.store.store import Store
from unweave.study import Study
from unweave.study.damaged_runs import set_aside_damaged
from unweave.study.engines.engine import Engine
from unweave.study.engines.queue import Queue
from unweave.study.engines.worker import Report, Task, Worker
from unweave.training.loop import Session

ONE = SPEC.replace("beta = [1, 4]\nseed = [0, 1]", "beta = 4\nseed = 0").replace("seeds = 2", "seeds = 1")


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the engine of a study carry out its tasks in this process."""

    def run_tasks(_: Engine, tasks: dict[str, Task], report: Callable[[Report], None], watch: Any) -> None:
        queue, worker = Queue(tasks, report), Worker()
        while queue:
            if queue.is_aside("here"):
                raise queue.stopped()
            queue.answer(worker.carry_out(queue.take()[1]), "here")

    monkeypatch.setattr(Engine, "run_tasks", run_tasks)


def deliver(address: str, run: str, steps: int = 10) -> None:
    """Deliver a finished run as a worker does."""
    with checked_out(address, run) as checkout:
        folder = checkout.store / run
        folder.mkdir(parents=True)
        for name in ("model.safetensors", "summary.json"):
            (folder / name).write_text('"content"')
        (folder / "configuration.json").write_text(json.dumps(FIELDS))
        write_state(folder, State("finished", steps, "v"))


def names(count: int) -> list[str]:
    return [f"{number:016x}" for number in range(0, count * 2**52, 2**52)]


def on_another_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UNWEAVE_CACHE", str(tmp_path / "another machine"))
    open_remote.cache_clear()


class TestHistories:
    """Machines that are cut off and lost, on a server with faults, keep every promise."""

    RATES: ClassVar = {"503": 0.03, "500": 0.02, "lost": 0.04, "closed": 0.03, "cut": 0.02, "slow": 0.01}

    def check(self, bucket: str, proxy: Proxy, tmp_path: Path, *, runs: int, machines: int, seed: int) -> Cluster:
        wanted = names(runs)
        cluster = Cluster(bucket, wanted, tmp_path / "machines", seed=seed, trouble=0.06)
        proxy.rates = self.RATES
        with quick_claims(cluster), Recorder(tmp_path / "history"):
            cluster.work(machines, seconds=60 + 20 * runs)
        proxy.rates = {}
        assert violations(read_history(tmp_path / "history")) == []
        assert finished_in(open_remote(bucket), wanted) == runs
        assert {run: len(states) for run, states in proxy.delivered().items()} == dict.fromkeys(wanted, 1)
        for run in wanted:
            lines = (open_remote(bucket).objects.read(f"{run}/log.jsonl") or b"").splitlines()
            assert [json.loads(line)["step"] for line in lines] == [*range(1, STEPS + 1)]
        assert Remote(bucket).records(wanted).records[wanted[0]].state == "finished"
        return cluster

    def test_short(self, bucket: str, proxy: Proxy, tmp_path: Path) -> None:
        self.check(bucket, proxy, tmp_path, runs=6, machines=3, seed=1)
        assert sum(proxy.faults().values()) > 0

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", range(4))
    def test_long(self, bucket: str, proxy: Proxy, tmp_path: Path, seed: int) -> None:
        cluster = self.check(bucket, proxy, tmp_path, runs=60, machines=8, seed=seed)
        assert set(proxy.faults()) == set(FAULTS)
        assert cluster.lost
        assert cluster.cut
        assert "takeover" in (tmp_path / "history").read_text()

    def test_the_checker_finds_what_must_not_happen(self) -> None:
        event = partial(Event, run="r")
        first = [event("claim", token="a", began=0, ended=1), event("beat", token="a", began=2, ended=3)]
        again = event("claim", token="b", began=4, ended=5)
        taken = again._replace(event="takeover")
        release = event("release", token="a", began=3.5, ended=6)
        late = [event(kind, token="a", began=7, ended=8) for kind in ("beat", "deliver", "release")]
        done = [event("deliver", token="a", began=n, ended=n, status="finished") for n in (3.1, 3.2)]
        assert violations(first) == violations([*first, taken]) == violations([*first, again, release]) == []
        assert violations([*first, again]) == ["r: b has claimed it while a owns it"]
        for one in late:
            assert violations([*first, taken, one]) == [f"r: a has made a {one.event} after it lost its claim"]
        assert violations([*first, taken, late[0]._replace(event="loss")]) == []
        assert violations([*first, *done]) == ["r: delivered 2 times"]


class TestTraining:
    """Runs that are trained with faults have the same bits as others."""

    def test_the_bits_do_not_depend_on_faults(self, bucket: str, proxy: Proxy, trained: Path) -> None:
        proxy.rates = dict.fromkeys(FAULTS[:-1], 0.06)
        task = tasks(Study(ONE, store=bucket))[0]
        name = Worker().carry_out(task).run
        proxy.rates = {}
        for file in ("model.safetensors", "checkpoint.safetensors", "summary.json", "configuration.json"):
            assert open_remote(bucket).objects.read(f"{name}/{file}") == (trained / name / file).read_bytes()
        assert not open_remote(bucket).objects.list("claims/")

    def test_the_next_owner_continues_from_the_delivered_checkpoint(
        self, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = ONE.replace("steps = 3", "steps = 40")
        study = Study(text, store=bucket)
        execution = {"threads": 1, "device": "cpu", "checkpoint_steps": 10, "checkpoint_seconds": 1e-6, "log_steps": 10}
        name, task = next(iter(study._tasks(None, execution).items()))
        step = Session.step
        starts: list[int] = []

        def lost(self: Session, at: int) -> Any:
            if at == 25:
                threads = [one for one in threading.enumerate() if one.name == "deliver a checkpoint"]
                for thread in threads:
                    thread.join()
                raise KeyboardInterrupt
            return step(self, at)

        with monkeypatch.context() as patch:  # nothing leaves a machine that is lost
            patch.setattr(Session, "step", lost)
            patch.setattr(Delivery, "deliver", lambda self: None)
            patch.setattr(RunClaim, "release", lambda self: None)
            patch.setattr("unweave.store.remote.checkout.SHARE", 1e6)
            with pytest.raises(KeyboardInterrupt):
                Worker().carry_out(task)
        remote = open_remote(bucket)
        state = json.loads(remote.objects.read(f"{name}/state.json") or b"")
        assert state["status"] == "running"
        assert 10 <= state["step"] <= 25  # there is a checkpoint after every step, by its time
        remote.objects.remove([f"claims/{name}"])  # its process is this one, which is alive
        on_another_machine(monkeypatch, tmp_path)
        run = Session.run

        def noted(self: Session) -> None:
            starts.append(self.start)
            run(self)

        monkeypatch.setattr(Session, "run", noted)
        assert Worker().carry_out(task).outcome == "finished"
        assert starts == [state["step"]]
        alone = Study(text, store=tmp_path / "alone")
        Worker().carry_out(alone._tasks(None, execution)[name])
        for file in ("model.safetensors", "checkpoint.safetensors", "log.jsonl"):
            assert open_remote(bucket).objects.read(f"{name}/{file}") == (tmp_path / "alone" / name / file).read_bytes()

    def test_checkpoints_take_a_few_per_cent_of_the_time(self, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
        remote, now = open_remote(bucket), [1000.0]
        sent: list[float] = []

        def send(self: Delivery, folder: Path) -> None:
            sent.append(now[0])
            now[0] += 9

        monkeypatch.setattr("unweave.store.remote.checkout.time.monotonic", lambda: now[0])
        monkeypatch.setattr(Delivery, "_send", send)
        delivery = Delivery(remote, RunClaim(remote.objects, names(1)[0]), 60.0)
        delivery._folder.mkdir(parents=True)
        for _ in range(900):  # a checkpoint per second, and 9 seconds to deliver one
            delivery.deliver_checkpoint()
            if delivery._thread is not None:
                delivery._thread.join()
            now[0] += 1
        assert sent[0] == 1060
        assert {after - before for before, after in pairwise(sent)} == {300.0}  # 9 s are 3 %

    def test_an_owner_that_has_lost_its_claim_stops(self, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("unweave.store.remote.claims.INTERVAL", 0.05)
        study = Study(ONE.replace("steps = 3", "steps = 1_000_000"), store=bucket)
        task = tasks(study)[0]
        remote, step = open_remote(bucket), Session.step

        def taken_over(self: Session, at: int) -> Any:
            if at == 3:
                remote.objects.write(f"claims/{self._configuration.name}", b'{"token": "of another"}')
            return step(self, at)

        monkeypatch.setattr(Session, "step", taken_over)
        said = Worker().carry_out(task)
        assert said.outcome == "busy"
        assert remote.objects.read(f"claims/{said.run}") == b'{"token": "of another"}'
        assert remote.objects.list(f"{said.run}/") == {}


class TestPatience:
    """All ways in which a store can be away are waited for."""

    @pytest.mark.parametrize("way", ["refused", "503", "closed", "lost"])
    def test_a_store_that_comes_back_is_waited_for(
        self, way: str, bucket: str, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(objects_module, "LONGEST_PAUSE", 0.1)
        objects = open_remote(bucket).objects
        objects.patience = 60.0
        objects.write("a", b"1")

        def back() -> None:
            proxy.open() if way == "refused" else setattr(proxy, "rates", {})

        proxy.close() if way == "refused" else setattr(proxy, "rates", {way: 1.0})
        timer = threading.Timer(0.5, back)
        timer.start()
        objects.write("a", b"2")
        timer.join()
        assert objects.read("a") == b"2"

    @pytest.mark.usefixtures("in_process")
    def test_a_store_that_stays_away_ends_the_study_and_the_next_start_delivers(
        self, bucket: str, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from unweave.cli.app import app

        (tmp_path / "spec.toml").write_text(SPEC)
        command = ["study", "run", str(tmp_path / "spec.toml"), "--store", bucket]
        began: list[str] = []
        run = Session.run

        def counted(self: Session) -> None:
            began.append(self._configuration.name)
            run(self)
            if len(began) == 2:
                proxy.close()

        monkeypatch.setattr(Session, "run", counted)
        shown = CliRunner().invoke(app, [*command, "--patience", "0.2"])
        assert shown.exit_code == 1
        last = shown.stdout.splitlines()[-1]
        reason = "no machine is left that can train runs: here (cannot reach the store s3://"
        assert last.startswith(f"5 runs are not finished: {reason}")
        assert len(began) == 2  # the others were not begun
        proxy.open()
        shown = CliRunner().invoke(app, command)
        assert (shown.exit_code, sorted(began)) == (0, sorted(run.name for run in Study(SPEC).planned))  # each once

    @pytest.mark.usefixtures("in_process")
    def test_a_store_that_is_read_only_ends_the_study(self, bucket: str, proxy: Proxy, tmp_path: Path) -> None:
        from unweave.cli.app import app

        (tmp_path / "spec.toml").write_text(SPEC)
        proxy.read_only = True
        shown = CliRunner().invoke(app, ["study", "run", str(tmp_path / "spec.toml"), "--store", bucket])
        assert shown.exit_code == 1
        reason = f"no machine is left that can train runs: here (the store {bucket} does not permit this"
        assert shown.stdout.splitlines()[-1].startswith(f"6 runs are not finished: {reason}")

    @pytest.mark.parametrize("damaged", [False, True])
    def test_any_machine_delivers_what_it_has(
        self, damaged: bool, bucket: str, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        task = tasks(Study(ONE, store=bucket))[0]
        run = Session.run

        def cut_off(self: Session) -> None:
            run(self)
            proxy.close()

        with monkeypatch.context() as patch:
            patch.setattr(Session, "run", cut_off)
            open_remote(bucket).objects.patience = 0.0
            said = Worker().carry_out(task)
            assert said.outcome == "away"
        proxy.open()
        monkeypatch.setattr(Session, "run", lambda self: pytest.fail("trained again"))
        if damaged:  # in the store; it is replaced
            open_remote(bucket).objects.write(f"{said.run}/state.json", b"{")
        Store(bucket).begin(10.0)  # for any study on this machine
        assert Study(ONE, store=bucket).status() == {"finished": 1, "not started": 1}


class TestDamage:
    """Files that are missing, cut or changed in a store are noticed."""

    def test_files_that_are_missing_or_cut_are_noticed_by_the_listing(self, bucket: str) -> None:
        study, worker = Study(SPEC, store=bucket), Worker()
        runs = [worker.carry_out(task).run for task in tasks(study)[:4]]
        remote = open_remote(bucket)
        remote.objects.remove([f"{runs[0]}/model.safetensors", f"{runs[3]}/checkpoint.safetensors"])
        remote.objects.write(f"{runs[1]}/model.safetensors", b"short")
        remote.objects.remove([f"{runs[2]}/summary.json"])
        assert study.status() == {"damaged": 3, "not started": 2, "finished": 1}  # which needs no checkpoint
        found = set_aside_damaged(study.stored, study.planned)
        assert found[runs[0]] == f"{bucket}/{runs[0]}/model.safetensors is missing."
        assert "model.safetensors is damaged: it has 5 bytes instead of" in found[runs[1]]
        assert found[runs[2]] == f"{bucket}/{runs[2]}/summary.json is missing."
        assert study.status() == {"not started": 5, "finished": 1}

    @pytest.mark.parametrize("where", ["folder", "s3"])
    def test_check_reads_everything(
        self, where: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from unweave.cli.app import app

        store = str(tmp_path / "runs") if where == "folder" else request.getfixturevalue("bucket")
        study = Study(ONE, store=store)
        name = Worker().carry_out(tasks(study)[0]).run
        (tmp_path / "spec.toml").write_text(ONE)
        check = ["study", "check", str(tmp_path / "spec.toml"), "--store", store]
        assert CliRunner().invoke(app, check).exit_code == 0
        remote = study.stored.remote
        weights = remote.objects.read(f"{name}/model.safetensors") if remote else None
        weights = weights or (tmp_path / "runs" / name / "model.safetensors").read_bytes()
        changed = weights[:-1] + bytes([weights[-1] ^ 1])  # one bit, of the same length
        if remote is None:
            (tmp_path / "runs" / name / "model.safetensors").write_bytes(changed)
        else:
            remote.objects.write(f"{name}/model.safetensors", changed)
        assert study.status() == {"finished": 1, "not started": 1}
        shown = CliRunner().invoke(app, check)
        assert shown.exit_code == 1
        assert f"{store}/{name}/model.safetensors is damaged: it is not as the run has written it." in shown.output
        if remote is not None:
            with pytest.raises(
                Unavailable, match=rf"{name}/model.safetensors is damaged: .* study check SPEC --repair"
            ):
                study.runs()
        assert CliRunner().invoke(app, [*check, "--repair"]).exit_code == 0
        assert study.status() == {"not started": 2}
        assert Worker().carry_out(tasks(study)[0]).outcome == "finished"
        read = remote.objects.read(f"{name}/model.safetensors") if remote else None
        assert (read or (tmp_path / "runs" / name / "model.safetensors").read_bytes()) == weights


class TestRequests:
    """Few requests tell the state of many runs."""

    def test_a_run_takes_eleven_requests(self, bucket: str, proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("unweave.store.remote.checkout.SOON", 600.0)  # no sign of life before, on a busy machine
        monkeypatch.setattr("unweave.store.remote.claims.INTERVAL", 600.0)
        task = tasks(Study(ONE, store=bucket))[0]
        proxy.requests.clear()
        assert Worker().carry_out(task).outcome == "finished"
        assert proxy.counts() == {"PUT": 9, "LIST": 1, "DELETE": 1}  # 7 files, the claim, the index

    def test_a_new_machine_reads_the_index_and_a_part_its_own_runs(
        self, bucket: str, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shared_index, "FULL", 10)
        monkeypatch.setattr("unweave.store.remote.address.FEW", 10)
        runs = names(12)
        for run in runs:
            deliver(bucket, run)
        on_another_machine(monkeypatch, tmp_path)
        proxy.requests.clear()
        assert {record.state for record in Store(bucket).records(runs).records.values()} == {"finished"}
        assert proxy.counts() == {"LIST": 2, "GET": 2}  # 10 runs in the first object of the index
        proxy.requests.clear()
        assert len(Store(bucket).records([*runs, "f" * 16]).records) == 13
        assert proxy.counts() == {"LIST": 2}  # of the claims, because a run is not finished
        on_another_machine(monkeypatch, tmp_path / "third")
        proxy.requests.clear()
        assert Store(bucket).records(runs[:5]).records[runs[0]].step == 10
        assert proxy.counts() == {"LIST": 5, "GET": 10}  # states and configurations
        assert {request.key.partition("/")[2].partition("/")[0] for request in proxy.requests} <= {"", *runs[:5]}

    def test_what_does_not_match_the_files_is_not_taken_from_the_index(
        self, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shared_index, "FULL", 6)
        monkeypatch.setattr("unweave.store.remote.address.FEW", 10)
        runs = names(12)
        for run in runs:
            deliver(bucket, run)
        remote = open_remote(bucket)
        state = json.loads(remote.objects.read(f"{runs[0]}/state.json") or b"")
        remote.objects.write(f"{runs[0]}/state.json", json.dumps(state | {"step": 7}).encode())
        remote.objects.remove([f"{runs[1]}/state.json"])
        damaged = next(iter(remote.objects.list("index/")))
        remote.objects.write(damaged, b"damaged")
        on_another_machine(monkeypatch, tmp_path)
        found = Store(bucket).records(runs).records
        assert [found[run].step for run in runs] == [7, 0] + [10] * 10

    def test_small_objects_of_the_index_are_joined(self, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shared_index, "FULL", 1)
        monkeypatch.setattr(shared_index, "MANY", 8)
        monkeypatch.setattr(shared_index, "LARGE", 6)
        runs = names(10)
        for run in runs:
            deliver(bucket, run)
        remote = open_remote(bucket)
        assert len(remote.objects.list("index/")) == 10
        remote.index.compact()
        assert sorted(path[6:13] for path in remote.objects.list("index/")) == ["000004-", "000006-"]
        remote.index.compact()  # few enough
        tables, _ = remote.index.tables({})
        assert sorted(run for table in tables for run in table["run"].to_pylist()) == runs

    def test_rows_that_were_joined_are_not_joined_again(self, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shared_index, "MANY", 1)
        monkeypatch.setattr(shared_index, "LARGE", 2)
        runs, remote = names(6), open_remote(bucket)
        for number, run in enumerate(runs):
            deliver(bucket, run)  # this process writes its object again, with all runs before
            if number % 2:
                remote.index.compact()
        assert [path[6:13] for path in remote.objects.list("index/")] == ["000002-"] * 3
        tables, _ = remote.index.tables({})
        assert sorted(run for table in tables for run in table["run"].to_pylist()) == runs

    def test_the_index_is_joined_by_one_process_at_a_time(
        self, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shared_index, "MANY", 1)
        deliver(bucket, names(1)[0])
        before = open_remote(bucket).objects.list("index/")
        on_another_machine(monkeypatch, tmp_path)
        with open_remote(bucket).claims.taken("index"):
            Remote(bucket).index.compact()
            assert open_remote(bucket).objects.list("index/") == before
            assert Store(bucket).records(names(2)).records[names(2)[1]].state == "not started"
            assert not (open_remote(bucket).runs / "index").exists()
        Remote(bucket).index.compact()
        assert [path[:13] for path in open_remote(bucket).objects.list("index/")] == ["index/000001-"]

    def test_a_study_lists_the_store_once(
        self, bucket: str, proxy: Proxy, in_process: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Worker().carry_out(tasks(Study(SPEC, store=bucket))[0])
        monkeypatch.setattr("unweave.store.remote.address.FEW", 0)
        proxy.requests.clear()
        study = Study(SPEC, store=bucket)
        assert study.run() == {"finished": 6}
        whole = [each for each in proxy.requests if each.kind == "LIST"]
        assert len(whole) == 1 + 5 + 1 + 2  # the store, each run that is claimed, claims, and the index with old claims
        assert study.unfinished == {}

    def test_claims_that_were_left_on_finished_runs_are_removed(
        self, bucket: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store, (one, two, three) = Store(bucket), names(3)
        assert store.remote is not None
        for run in (one, two, three):
            store.remote.objects.write(f"claims/{run}", b"{}")
        ages = {f"claims/{one}": 500.0, f"claims/{two}": 20.0, f"claims/{three}": 500.0}
        monkeypatch.setattr(store.remote.objects, "ages", lambda prefix: ages)
        store.end({one, two})
        assert list(store.remote.objects.list("claims/")) == [f"claims/{two}", f"claims/{three}"]


def test_machines_that_are_cut_off_reach_nothing(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNWEAVE_CACHE", "")
    machine = Machine("one", bucket, tmp_path)
    machine.remote.objects.patience = 0.0
    machine.until = float("inf")
    with pytest.raises(Unavailable, match="cut off"):
        machine.remote.objects.write("a", b"1")
