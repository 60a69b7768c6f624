"""A study of very short runs whose launcher and workers are killed with SIGKILL at random moments."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import tiny_runs
from unweave.study import Study

WORKERS = 2


class Outcome(NamedTuple):
    """The content of the store and of the record of ends after a study that was disturbed."""

    runs: int
    finished: int  # states in the store
    doubled: int  # trained to the end more than once
    missing: int  # planned, but not in the store
    launchers_killed: int
    workers_killed: int
    seconds: float


def disturbed(store: Path, runs: int, kills: int, seed: int = 0) -> Outcome:
    """Carry out a study with the local engine, and kill its launcher or one of its workers ``kills`` times.

    The moments are random: when a random number of runs have ended, and up to a quarter of a second later.
    """
    chance = random.Random(seed)
    moments = sorted(chance.randrange(runs) for _ in range(kills))
    killed = {"launcher": 0, "worker": 0}
    began = time.monotonic()
    launcher = _launch(store, runs)
    while True:
        time.sleep(0.05)
        if launcher.poll() is not None:
            if not moments:
                break
            launcher = _launch(store, runs)  # the last kills come after the last run
        if moments and _lines(store) >= moments[0]:
            moments.pop(0)
            time.sleep(chance.uniform(0, 0.25))
            workers = _children(launcher.pid)
            if chance.random() < 0.5 or not workers:
                launcher.kill()
                launcher.wait()
                killed["launcher"] += 1
                launcher = _launch(store, runs)
            else:
                os.kill(chance.choice(workers), signal.SIGKILL)
                killed["worker"] += 1
    if launcher.returncode:
        raise SystemExit(f"the study ended with exit code {launcher.returncode}")
    return verify(store, runs, killed["launcher"], killed["worker"], time.monotonic() - began)


def verify(store: Path, runs: int, launchers: int, workers: int, seconds: float) -> Outcome:
    """Count what is in the store, from its files alone."""
    names = {planned.name for planned in Study(tiny_runs.spec(runs), store=store).planned}
    finished = 0
    for name in names:
        state, log = store / name / "state.json", store / name / "log.jsonl"
        if state.exists() and json.loads(state.read_text())["status"] == "finished":
            finished += json.loads(log.read_text().splitlines()[-1])["step"] == tiny_runs.STEPS
    counts = tiny_runs.ended(store)
    return Outcome(
        runs=len(names),
        finished=finished,
        doubled=sum(count > 1 for count in counts.values()),
        missing=sum(not (store / name / "model.safetensors").exists() for name in names),
        launchers_killed=launchers,
        workers_killed=workers,
        seconds=seconds,
    )


def _launch(store: Path, runs: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, __file__, str(store), str(runs)], stdout=subprocess.DEVNULL)


def _lines(store: Path) -> int:
    path = store.parent / "ended.txt"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _children(parent: int) -> list[int]:
    """Return the workers among the children of a process."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            line = path.read_text().rpartition(")")[2].split()
            command = (path.parent / "cmdline").read_text()
        except OSError:
            continue
        if int(line[1]) == parent and "spawn_main" in command:
            found.append(int(path.parent.name))
    return found


if __name__ == "__main__":
    study = Study(tiny_runs.spec(int(sys.argv[2])), store=sys.argv[1])
    print(study.run(workers=WORKERS))
