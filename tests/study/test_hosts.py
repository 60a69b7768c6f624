"""Studies on several machines for real: processes in namespaces that are killed and stopped, on a faulty S3 server."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.study.conftest import tasks
from tests.study.faulty_server import Proxy
from tests.study.history import Event, read_history, violations
from tests.study.hosts import QUICK, Hosts
from tests.study.tiny import SPEC
from unweave.store.remote.address import open_remote
from unweave.study import Study
from unweave.study.engines.worker import Worker

RATES = {"503": 0.02, "500": 0.01, "lost": 0.02, "closed": 0.02, "cut": 0.01, "slow": 0.01}
FILES = ("model.safetensors", "summary.json", "configuration.json", "scores.json", "log.jsonl")
STEPS = 1500
LONG = SPEC.replace("steps = 3", f"steps = {STEPS}")
ONE = LONG.replace("beta = [1, 4]\nseed = [0, 1]", "beta = 4\nseed = 0").partition("[[grid]]\nrecipe = [")[0]
OPTIONS = ("--workers", "1", "--checkpoint-seconds", "0.2")


def command(hosts: Hosts, spec: str, bucket: str) -> tuple[str, ...]:
    (hosts.folder / "spec.toml").write_text(spec)
    return ("study", "run", "spec.toml", "--store", bucket, *OPTIONS)


def events(hosts: Hosts) -> list[Event]:
    path = hosts.folder / "history"
    return read_history(path) if path.exists() else []


def wait_for(condition: Callable[[], object], seconds: float = 600) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def check(hosts: Hosts, spec: str, bucket: str, proxy: Proxy, tmp_path: Path) -> None:
    """Check that every run was delivered once, with the bits of one that nothing disturbs, and left no claim."""
    assert violations(events(hosts)) == []
    study = Study(spec, store=bucket)
    assert {run: len(states) for run, states in proxy.delivered().items()} == {
        planned.name: 1 for planned in study.planned
    }
    alone, remote = Study(spec, store=tmp_path / "alone"), open_remote(bucket)
    for task in tasks(alone):
        run = Worker().carry_out(task).run
        for file in FILES:
            there, here = remote.objects.read(f"{run}/{file}") or b"", (tmp_path / "alone" / run / file).read_bytes()
            assert _without_times(file, there) == _without_times(file, here), (run, file)
    assert not remote.objects.list("claims/")


def _without_times(file: str, content: bytes) -> object:
    """Return the content of a file without what differs between two machines: how long something took."""
    if file == "log.jsonl":
        return [{k: v for k, v in json.loads(line).items() if "second" not in k} for line in content.splitlines()]
    return content


def test_a_lost_machine_costs_the_work_since_the_last_delivered_checkpoint(
    hosts: Hosts, bucket: str, proxy: Proxy, tmp_path: Path
) -> None:
    words = command(hosts, ONE, bucket)
    hosts["first"].run(*words)
    wait_for(lambda: any(event.event == "deliver" and event.step >= 100 for event in events(hosts)))
    hosts["first"].kill()
    step = max(event.step for event in events(hosts) if event.event == "deliver")
    assert step < STEPS
    hosts["second"].run(*words)
    code, said = hosts["second"].end(600)
    assert code == 0, said
    (starts,) = hosts.starts().values()
    assert starts[0] == 0
    assert starts[1] >= step  # the delivery of a later one may have been under way
    assert len(starts) == 2
    assert "takeover" in {event.event for event in events(hosts)}
    check(hosts, ONE, bucket, proxy, tmp_path)


def test_an_owner_that_has_slept_stops_and_changes_nothing(
    hosts: Hosts, bucket: str, proxy: Proxy, tmp_path: Path
) -> None:
    words = command(hosts, ONE, bucket)
    hosts["first"].run(*words)
    wait_for(lambda: any(event.event == "deliver" for event in events(hosts)))
    asleep = hosts["first"].sleep()
    assert len(asleep) == 1
    hosts["second"].run(*words)
    wait_for(lambda: any(event.event == "takeover" for event in events(hosts)))
    for pid in asleep:
        os.kill(pid, signal.SIGCONT)
    ended = [hosts[name].end(600) for name in ("first", "second")]
    assert [code for code, _ in ended] == [0, 0], ended
    assert "loss" in {event.event for event in events(hosts)}
    check(hosts, ONE, bucket, proxy, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_machines_that_are_killed_and_stopped_at_random_deliver_every_run_once(
    hosts: Hosts, bucket: str, proxy: Proxy, tmp_path: Path, seed: int
) -> None:
    spec = LONG.replace("seed = [0, 1]", "seed = [0, 1, 2, 3]").replace("seeds = 2", "seeds = 4")
    words, chance, names = command(hosts, spec, bucket), random.Random(seed), ["a", "b", "c"]
    proxy.rates = RATES
    for name in names:
        hosts[name].run(*words)
    for trouble in chance.choices(["kill", "stop", "worker", "outage"], k=16):
        time.sleep(chance.uniform(1, 6))
        name = chance.choice(names)
        if trouble == "kill":
            hosts[name].kill()
            hosts[name].run(*words)
        elif trouble == "stop":
            asleep = hosts[name].sleep()
            time.sleep(chance.uniform(0.5, 2) * QUICK["SILENT"])
            for pid in asleep:
                os.kill(pid, signal.SIGCONT)
        elif trouble == "worker":
            for pid in hosts[name].workers():
                os.kill(pid, signal.SIGKILL)
        else:
            proxy.close()
            time.sleep(chance.uniform(1, 2 * QUICK["SILENT"]))
            proxy.open()
    for name in names:
        code, said = hosts[name].end(600)
        assert code == 0, said
    proxy.rates = {}
    check(hosts, spec, bucket, proxy, tmp_path)
