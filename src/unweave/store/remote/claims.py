"""Claims: which process trains a run of a store at an address, so that no other machine trains it as well.

A claim is an object ``claims/RUN.NUMBER`` that only one process can create. Its owner rewrites it every few seconds. A
process that sees a claim unchanged for a minute of its own clock, or that knows its owner to be dead, takes the run
over by creating the next number, which again only one process can do. The highest number owns the run: an owner that
was only slow finds the next number when it is about to deliver, and gives up. Clocks of machines are not compared.
"""

from __future__ import annotations

import json
import os
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from unweave.errors import Unavailable
from unweave.store.lock import Busy, is_alive, machine, started_of
from unweave.store.remote.objects import Objects

CLAIMS = "claims"
INTERVAL = 10.0  # seconds between two signs of life
SILENT = 60.0  # seconds without a sign of life after which a run is taken over


class Claim:
    """The right of this process to train a run."""

    def __init__(self, objects: Objects, run: str, number: int) -> None:
        self._objects, self._run, self.number = objects, run, number
        self._path = _path(run, number)
        self._beats = 0
        self._owner = {
            "host": machine(),
            "pid": os.getpid(),
            "started": started_of(os.getpid()),
            "token": uuid.uuid4().hex,
        }

    def create(self) -> bool:
        """Create the claim, and return whether this process has the run now."""
        return self._objects.create(self._path, self._content())

    def is_held(self) -> bool:
        """Return whether no other process has taken the run over."""
        numbers = _numbers(self._objects, self._run)
        return bool(numbers) and max(numbers) == self.number

    def beat(self) -> None:
        """Show that the owner is alive, unless the run was taken over."""
        if self.is_held():
            self._beats += 1
            self._objects.write(self._path, self._content())

    def release(self) -> None:
        """Remove the claim, and those that it has replaced."""
        numbers = _numbers(self._objects, self._run)
        self._objects.remove(_path(self._run, number) for number in numbers if number <= self.number)

    def _content(self) -> bytes:
        return json.dumps({**self._owner, "beats": self._beats}).encode()


class Claims:
    """The claims of a store, as one process sees them."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._seen: dict[str, tuple[bytes, float]] = {}  # contents of claims of others, and since when

    @contextmanager
    def taken(self, run: str) -> Iterator[Claim]:
        """Hold the claim of a run; raise Busy if another process has it."""
        numbers = _numbers(self._objects, run)
        last = max(numbers, default=0)
        claim = Claim(self._objects, run, last + 1)
        if (numbers and not self._is_dead(_path(run, last))) or not claim.create():
            raise Busy(f"the run {run} of {self._objects.address} is being trained by another process.")
        done = threading.Event()

        def beat() -> None:
            while not done.wait(INTERVAL):
                with suppress(Unavailable, OSError):  # the next beat may arrive
                    claim.beat()

        thread = threading.Thread(target=beat, name="claim", daemon=True)
        thread.start()
        try:
            yield claim
        finally:
            done.set()
            thread.join()
            with suppress(Unavailable):  # others take it over after a minute
                claim.release()

    def _is_dead(self, path: str) -> bool:
        """Return whether the owner of a claim is known to be dead, or has been silent for too long."""
        content = self._objects.read(path)
        now = time.monotonic()
        if content is None:  # released since it was listed
            return False
        try:
            owner = json.loads(content)
            if owner["host"] == machine():
                return not is_alive(int(owner["pid"]), str(owner["started"]))
        except (ValueError, KeyError, TypeError):
            pass  # not written by this version: it is watched like any other
        before, since = self._seen.get(path, (b"", now))
        if before != content:
            self._seen[path] = (content, now)
            return False
        return now - since > SILENT


class Owner(NamedTuple):
    """The process that has a claim."""

    path: str  # of the claim
    line: str  # host, process and its start, as a heartbeat has them


def owners(objects: Objects) -> dict[str, Owner]:
    """Return the runs that are claimed, each with its owner."""
    found = {}
    for path, content in sorted(objects.read_all(objects.list(f"{CLAIMS}/")).items()):
        with suppress(ValueError, KeyError, TypeError):
            owner = json.loads(content)
            line = f"{owner['host']} {owner['pid']} {owner['started']}"
            found[path.removeprefix(f"{CLAIMS}/").partition(".")[0]] = Owner(path, line)
    return found


def _path(run: str, number: int) -> str:
    return f"{CLAIMS}/{run}.{number:06}"


def _numbers(objects: Objects, run: str) -> list[int]:
    names = (path.rpartition(".")[2] for path in objects.list(f"{CLAIMS}/{run}."))
    return [int(name) for name in names if name.isdecimal()]
