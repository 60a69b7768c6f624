"""Simulated machines that claim, beat and deliver runs without training, and are cut off and lost at random."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.store.test_record import FIELDS
from unweave.errors import Unavailable
from unweave.store.files import write_text
from unweave.store.folder import CHECKPOINT, CONFIGURATION, LOG, STATE, SUMMARY, WEIGHTS
from unweave.store.lock import Busy
from unweave.store.remote import checkout as checkout_module
from unweave.store.remote import claims as claims_module
from unweave.store.remote.address import Remote
from unweave.store.remote.checkout import Checkout, checked_out
from unweave.store.state import State, read_state, write_state

STEPS = 5
QUICK = {"INTERVAL": 0.2, "SOON": 0.05, "SILENT": 1.0, "GRACE": 0.4}  # seconds, of claims


class Lost(Exception):
    """A machine is lost."""


class Machine:
    """A machine with a cache of its own, which can be cut off from the store."""

    def __init__(self, name: str, address: str, cache: Path) -> None:
        self.name, self.until = name, 0.0
        os.environ["UNWEAVE_CACHE"] = str(cache / name)
        self.remote = Remote(address)
        self.remote.objects.patience = 5.0
        tried = self.remote.objects._tried

        def connected(operation: Callable[[], Any], patience: float | None = None) -> Any:
            def guarded() -> Any:
                if time.monotonic() < self.until:
                    raise ConnectionResetError("cut off")
                return operation()

            return tried(guarded, patience)

        self.remote.objects._tried = connected  # type: ignore[method-assign]


class Cluster:
    """Machines, one thread each, that deliver all runs; a lost machine is replaced by one with another name."""

    def __init__(self, address: str, runs: Sequence[str], cache: Path, *, seed: int, trouble: float) -> None:
        self._address, self._runs, self._cache, self._trouble = address, runs, cache, trouble
        self._random, self._lock = random.Random(seed), threading.Lock()
        self._machines: dict[str, Machine] = {}
        self._left = set(runs)
        self.lost = self.cut = 0
        self.failures: list[BaseException] = []

    def machine(self) -> str:
        """Return the name of the machine of this thread."""
        return threading.current_thread().name

    def remote(self, _: str) -> Remote:
        """Return the store as the machine of this thread sees it."""
        return self._machines[self.machine()].remote

    def work(self, machines: int, seconds: float) -> None:
        """Let machines work until all runs are delivered; raise if that takes too long."""
        threads: list[threading.Thread] = []
        for number in range(machines):
            self._start(f"machine-{number}", threads)
        end = time.monotonic() + seconds
        while (alive := [thread for thread in threads if thread.is_alive()]) and time.monotonic() < end:
            alive[0].join(0.1)
            for number in range(len(threads), machines + self.lost):
                self._start(f"machine-{number}", threads)
        self._left.clear() if alive else None
        if self.failures:
            raise self.failures[0]
        assert not alive, f"{len(alive)} machines were not done in {seconds} s"

    def _start(self, name: str, threads: list[threading.Thread]) -> None:
        self._machines[name] = Machine(name, self._address, self._cache)
        threads.append(threading.Thread(target=self._carry_out, name=name, daemon=True))
        threads[-1].start()

    def _carry_out(self) -> None:
        try:
            while run := self._next():
                try:
                    with checked_out(self._address, run, seconds=0.001) as checkout:
                        self._train(checkout, run)
                    with self._lock:
                        self._left.discard(run)
                except Busy:
                    time.sleep(0.02)
                except Unavailable:
                    if self._machines[self.machine()].until == float("inf"):
                        return
        except Lost:
            return
        except BaseException as error:
            self.failures.append(error)

    def _next(self) -> str | None:
        with self._lock:
            return self._random.choice(sorted(self._left)) if self._left else None

    def _train(self, checkout: Checkout, run: str) -> None:
        """Write the files of a run as training does; the bits are a function of run and step."""
        folder = checkout.store / run
        state = read_state(folder)
        if state is not None and state.status == "finished":
            return
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CONFIGURATION).write_text(json.dumps(FIELDS))
        before = (folder / CHECKPOINT).read_text().split()[1] if (folder / CHECKPOINT).exists() else "0"
        for step in range(int(before) + 1, STEPS + 1):
            (folder / LOG).write_text("".join(f'{{"step": {each}}}\n' for each in range(1, step + 1)))
            write_text(folder / CHECKPOINT, f"{run} {step}")  # replaced, as training does; a delivery may link to it
            write_state(folder, State("running", step, "v"))
            checkout.check()
            checkout.saved()
            self._happen()
            time.sleep(0.01)
        for name in (WEIGHTS, SUMMARY):
            (folder / name).write_text(json.dumps(f"{name} of {run}"))
        write_state(folder, State("finished", STEPS, "v"))

    def _happen(self) -> None:
        """Let this machine be cut off from the store for a while, or be lost with what it has."""
        with self._lock:
            drawn, share = self._random.random(), self._random.random()
        machine = self._machines[self.machine()]
        if drawn < self._trouble / 3:
            with self._lock:
                self.lost += 1
            machine.until = float("inf")
            machine.remote.objects.patience = 0.0
            raise Lost
        if drawn < self._trouble:
            self.cut += 1
            machine.until = time.monotonic() + 3 * share * QUICK["SILENT"]
            time.sleep(max(0.0, machine.until - time.monotonic()))


@contextmanager
def quick_claims(cluster: Cluster) -> Iterator[None]:
    """Let claims beat and fall silent within a second, and every thread be a machine."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in QUICK.items():
            patch.setattr(claims_module, name, value)
        patch.setattr(checkout_module, "SOON", QUICK["SOON"])
        patch.setattr(checkout_module, "SHARE", 1.0)
        patch.setattr(checkout_module, "damaged_file", lambda *_, **__: "")  # of tensors, which these are not
        patch.setattr(checkout_module, "open_remote", cluster.remote)
        patch.setattr(claims_module, "machine", cluster.machine)
        patch.setenv("UNWEAVE_CACHE", "")
        yield


def finished_in(remote: Remote, runs: Sequence[str]) -> int:
    """Return how many runs of a store are finished."""
    states = remote.objects.read_all(f"{run}/{STATE}" for run in runs)
    return sum(json.loads(state)["status"] == "finished" for state in states.values())
