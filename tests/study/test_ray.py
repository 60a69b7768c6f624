"""Ray for real: a head and two nodes on this machine, one of which is killed during a study."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.study import tiny
from tests.study.counting import ended
from tests.study.tiny import SPEC
from unweave.errors import InputError, Unavailable
from unweave.store.folder import runs_in
from unweave.store.lock import HEARTBEAT
from unweave.store.remote.address import open_remote
from unweave.store.state import read_state
from unweave.study import Study
from unweave.study.engines import ray as ray_engine

ray = pytest.importorskip("ray")

STEPS = 600
LONG = SPEC.replace("steps = 3", f"steps = {STEPS}").replace("tests.study.tiny", "tests.study.counting")
MEMORY = 80 * 2**20  # bytes, the least that Ray accepts
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])}


@contextmanager
def _started(nodes: int) -> Iterator[Any]:
    """Start a cluster of a head, which trains nothing, and some nodes of one core."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        for name, value in ray_engine.ENVIRONMENT.items():
            patch.setenv(name, value)
        patch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
        settings = {"object_store_memory": MEMORY, "include_dashboard": False}
        for attempt in range(3):  # Ray gives a node 30 seconds to start, which a busy machine may not meet
            made: Any = Cluster()
            try:
                made.add_node(num_cpus=0, **settings)
                made.nodes = [made.add_node(num_cpus=1, object_store_memory=MEMORY) for _ in range(nodes)]
                break
            except Exception:
                made.shutdown()
                if attempt == 2:
                    raise
        yield made
        made.shutdown()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with _started(2) as made:
        yield made


@pytest.fixture
def small() -> Iterator[Any]:
    """A cluster of one node, for a test that takes it apart."""
    with _started(1) as made:
        yield made


LAUNCH = """
import signal
import sys
from unweave.study import Study

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored
    study = Study(sys.argv[1], store=sys.argv[2])
    study.run(engine="ray", address=sys.argv[3], checkpoint_steps=10)
"""


def test_ctrl_c_ends_the_runs_with_a_checkpoint(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(LONG.replace(f"steps = {STEPS}", "steps = 100_000"))
    (tmp_path / "launch.py").write_text(LAUNCH)
    store = tmp_path / "store"
    command = [sys.executable, str(tmp_path / "launch.py"), str(tmp_path / "spec.toml"), str(store), cluster.address]
    launcher = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        _wait_until(lambda: len(list(store.glob("*/checkpoint.safetensors"))) == 2, launcher)
        launcher.send_signal(signal.SIGINT)
        said, _ = launcher.communicate(timeout=120)
    finally:
        launcher.kill()
    assert said.strip().splitlines()[-1] == "KeyboardInterrupt"
    states = [read_state(run) for run in runs_in(store)]
    assert [state.status for state in states if state] == ["interrupted"] * 2
    assert all(state.step > 0 for state in states if state)


def test_a_lost_node_loses_and_doubles_nothing(cluster: Any, tmp_path: Path) -> None:
    store = tmp_path / "store"
    raylet = cluster.nodes[0].all_processes["raylet"][0].process.pid
    killed: list[str] = []

    def kill() -> None:
        while not (names := _trained_below(raylet, store)):
            time.sleep(0.02)
        os.kill(raylet, signal.SIGKILL)
        killed.extend(names)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    said: list[Any] = []
    study = Study(LONG, store=store)
    states = study.run(engine="ray", address=cluster.address, report=said.append, checkpoint_steps=10)
    killer.join(timeout=60)
    assert killed
    assert states == {"finished": 6}
    assert sorted(report.run for report in said) == sorted({planned.name for planned in study.planned})
    assert {report.outcome for report in said} == {"finished"}
    assert ended(store) == dict.fromkeys((planned.name for planned in study.planned), 1)
    for run in runs_in(store):
        steps = [line.split('"step": ')[1].split(",")[0] for line in (run / "log.jsonl").read_text().splitlines()]
        assert steps == [str(step) for step in range(100, STEPS + 1, 100)]  # each step once
    assert not ray.is_initialized()


def test_a_cluster_delivers_runs_to_an_address(bucket: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
    study = Study(SPEC, store=bucket)
    assert study.run(engine="ray", workers=2) == {"finished": 6}  # a cluster of its own, with the environment of S3
    assert not ray.is_initialized()
    monkeypatch.setenv("UNWEAVE_CACHE", str(tmp_path / "another machine"))
    open_remote.cache_clear()
    elsewhere = Study(SPEC, store=bucket)
    assert elsewhere.status() == {"finished": 6}
    assert elsewhere.table()["mig"].notna().all()


FULL = SPEC.replace("tests.study.tiny:Dots", "tests.study.test_ray:DotsOnAFullDisk")


class DotsOnAFullDisk(tiny.Dots):
    """Dots that a node cannot read whose environment says so."""

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        if path := os.environ.get("TEST_FULL"):
            with Path(path).open("a") as file:
                file.write("failed\n")
            raise OSError(28, "No space left on device")
        return super()._draw(factors, generator)


@pytest.mark.slow
def test_a_bad_node_is_set_aside_and_a_study_without_a_good_one_ends(small: Any, tmp_path: Path) -> None:
    failures = tmp_path / "failures"
    bad = small.add_node(num_cpus=1, object_store_memory=MEMORY, env_vars={"TEST_FULL": str(failures)})
    study = Study(FULL, store=tmp_path / "store")
    assert study.run(engine="ray", address=small.address) == {"finished": 6}
    assert 1 <= len(failures.read_text().splitlines()) <= 3  # a task may be on its way when the node is set aside
    small.remove_node(small.nodes[0])
    alone = Study(FULL.replace("steps = 3", "steps = 4"), store=tmp_path / "store")
    assert "failed" not in alone.run(engine="ray", address=small.address)
    assert len(alone.unfinished) == 6
    (reason,) = set(alone.unfinished.values())
    assert reason.startswith(f"no machine is left that can train runs: the node {bad.node_id[:8]} at ")
    assert "No space left on device" in reason


@pytest.mark.slow
def test_a_node_is_waited_for_and_a_lost_head_is_a_sentence(
    small: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_engine, "SILENT", 2.0)
    address = small.address
    study = Study(LONG.replace(f"steps = {STEPS}", "steps = 10_000_000"), store=tmp_path / "store")
    seen: list[str] = []

    def watch(left: Any, running: Any) -> None:
        before, now = seen[-1:], study.waiting_for or f"{len(running)} running"
        seen.append(now)
        if now == "1 running" and before != [now]:
            small.remove_node(small.nodes[0], allow_graceful=False)
        elif now == "waiting for a node" and before != [now]:
            small.head_node.kill_gcs_server()

    states = study.run(engine="ray", address=address, watch=watch)
    assert list(dict.fromkeys(seen))[1:] == ["1 running", "waiting for a node", "waiting for the head of the cluster"]
    assert "finished" not in states
    (reason,) = set(study.unfinished.values())
    assert reason.startswith(f"the head of the Ray cluster at {address} is lost: ")
    assert not ray.is_initialized()


def test_a_node_that_is_large_enough_must_exist(cluster: Any, tmp_path: Path) -> None:
    study = Study(SPEC, store=tmp_path)
    with pytest.raises(InputError, match=r"a run needs 1 CPUs and 0.25 GPUs, but no node of the cluster has them"):
        study.run(engine="ray", address=cluster.address, gpus=0.25)
    assert study.status() == {"not started": 6}


def test_a_cluster_that_does_not_answer_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot connect to the Ray cluster at 'nowhere'"):
        Study(SPEC, store=tmp_path).run(engine="ray", address="nowhere")


def _trained_below(parent: int, store: Path) -> list[str]:
    """Return the runs that have a checkpoint and are trained by a child of a process."""
    found = []
    for path in store.glob(f"*/{HEARTBEAT}"):
        try:
            pid = path.read_text().split()[1]
            stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except (OSError, IndexError):
            continue
        if int(stat[1]) == parent and (path.parent / "checkpoint.safetensors").exists():
            found.append(path.parent.name)
    return found


def _wait_until(happened: Any, launcher: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 240
    while not happened():
        assert launcher.poll() is None, launcher.communicate()
        assert time.monotonic() < end
        time.sleep(0.05)
