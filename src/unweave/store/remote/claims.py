"""Claims: which process trains a run of a store at an address, so that no other machine trains it as well.

A claim is an object ``claims/RUN`` with a token of its owner, which only one process can create. Every write after that
replaces exactly the claim that its writer has seen, or fails: the owner rewrites it every half minute, and finds out
with the same request if it was taken over. A process takes a run over if its owner is known to be dead, or if the claim
was not rewritten for :data:`SILENT` seconds. Ages are taken from the clock of the server, and the last :data:`GRACE`
seconds are watched by the own clock while the store can be reached, so that after an outage owners have time to show
that they are alive.

Every claim, takeover, beat, loss and release is logged to ``unweave.history`` at the level DEBUG.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from unweave.errors import Unavailable
from unweave.store.lock import Busy, is_alive, machine, started_of
from unweave.store.remote.objects import Objects, StoredObject

CLAIMS = "claims"
INTERVAL = 30.0  # seconds between two signs of life
SOON = 5.0  # seconds after which a beat that has failed is repeated
SILENT = 100.0  # seconds without a sign of life after which a run may be taken over
GRACE = 30.0  # seconds that a silent claim is watched before it is taken over
HISTORY = logging.getLogger("unweave.history")


class RunClaim:
    """The right of this process to train a run."""

    def __init__(self, objects: Objects, run: str) -> None:
        self._objects, self.run = objects, run
        self._path = _path(run)
        self._mark = ""  # of the claim as this process has written it
        self._beats = 0
        self._lock = threading.Lock()  # the thread that beats and the one that delivers
        self._confirmed = float("-inf")  # when the last write that succeeded was begun
        self.lost = False  # another process has taken the run over
        self.token = uuid.uuid4().hex
        self._owner = {"host": machine(), "pid": os.getpid(), "started": started_of(os.getpid()), "token": self.token}

    def take(self, seen: StoredObject | None = None) -> bool:
        """Create the claim, or replace one that was seen, and return whether this process has the run now."""
        began = time.monotonic()
        mark = self._objects.put(self._path, self._content(), expected="" if seen is None else seen.mark)
        self._mark, self._confirmed = mark or "", began
        if mark is not None:
            self.record("claim" if seen is None else "takeover", began)
        return mark is not None

    def beat(self, *, patience: float | None = None) -> bool:
        """Show that the owner is alive; return whether it has the run still.

        A claim that is gone was taken over and released by another process.
        """
        with self._lock:
            if self.lost:
                return False
            began = time.monotonic()
            self._beats += 1
            content = self._content()
            mark = self._objects.put(self._path, content, expected=self._mark, patience=patience)
            if mark is None:
                seen = self._objects.look(self._path, patience=patience)
                if seen is not None and self._is_ours(seen.content):  # an earlier beat arrived without an answer
                    mark = self._objects.put(self._path, content, expected=seen.mark, patience=patience)
            self.lost = mark is None
            self._mark, self._confirmed = mark or self._mark, self._confirmed if mark is None else began
            self.record("loss" if self.lost else "beat", began)
            return not self.lost

    def check(self) -> None:
        """Raise Busy if the run was taken over, as far as this process knows."""
        if self.lost:
            raise taken_over(self.run)

    def waited(self) -> float:
        """Return the seconds since the last sign of life."""
        return time.monotonic() - self._confirmed

    def release(self) -> None:
        """Remove the claim unless another process has taken the run over.

        Nobody takes over a claim that was rewritten a moment ago, so that it can be removed without a condition.
        """
        if self.waited() > SILENT / 2 and not self.beat():
            return
        if not self.lost:
            began = time.monotonic()
            self._objects.remove_if(self._path, self._is_ours)
            self.record("release", began)

    def record(self, event: str, began: float, **more: Any) -> None:
        """Log what happened to the run, as a line of JSON."""
        if HISTORY.isEnabledFor(logging.DEBUG):
            facts = {"event": event, "run": self.run, "token": self.token, "began": began, "ended": time.monotonic()}
            HISTORY.debug(json.dumps(facts | more))

    def _is_ours(self, content: bytes) -> bool:
        try:
            return bool(json.loads(content)["token"] == self.token)
        except (ValueError, KeyError, TypeError):
            return False

    def _content(self) -> bytes:
        return json.dumps({**self._owner, "beats": self._beats}).encode()


class Claims:
    """The claims of a store, as one process sees them."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._seen: dict[str, tuple[str, float]] = {}  # marks of claims of others, and since when
        self._left: set[str] = set()  # tokens of claims of this process that could not be released

    @contextmanager
    def taken(self, run: str) -> Iterator[RunClaim]:
        """Hold the claim of a run; raise Busy if another process has it."""
        claim = self._take(run)
        done = threading.Event()

        def beat() -> None:
            pause = INTERVAL
            while not done.wait(pause):
                try:
                    if claim.waited() >= INTERVAL and not claim.beat(patience=0):
                        return
                    pause = max(INTERVAL - claim.waited(), 0.01)  # a delivery is a sign of life too
                except (Unavailable, OSError):  # the next beat may arrive
                    pause = min(SOON, INTERVAL)

        thread = threading.Thread(target=beat, name="claim", daemon=True)
        thread.start()
        try:
            yield claim
        finally:
            done.set()
            thread.join()
            try:
                claim.release()
            except Unavailable:  # this process takes it over at once, others when it is silent
                self._left.add(claim.token)

    def _take(self, run: str) -> RunClaim:
        claim = RunClaim(self._objects, run)
        try:
            if claim.take():
                return claim
            seen = self._objects.look(_path(run))
            if seen is not None and self._is_dead(run, seen) and claim.take(seen):
                return claim
        except Unavailable:
            with suppress(Unavailable):  # an attempt without an answer may have made it
                if claim._is_ours(self._objects.read(_path(run)) or b""):
                    claim.release()
            raise
        raise Busy(f"the run {run} of {self._objects.address} is being trained by another process.")

    def _is_dead(self, run: str, seen: StoredObject) -> bool:
        """Return whether the owner of a claim is known to be dead, or has been silent for too long.

        A claim that is about to be silent for too long is watched until it is, or until it changes.
        """
        with suppress(ValueError, KeyError, TypeError):  # not written by this version: it is watched like any other
            owner = json.loads(seen.content)
            if owner["token"] in self._left:
                return True
            if owner["host"] == machine() and not is_alive(int(owner["pid"]), str(owner["started"])):
                return True
        left = self._until_silent(run, seen)
        if left > GRACE:
            return False
        while left > 0:
            time.sleep(left)
            again = self._objects.look(_path(run))
            if again is None or again.mark != seen.mark:
                return False
            left = self._until_silent(run, again)
        return True

    def _until_silent(self, run: str, seen: StoredObject) -> float:
        """Return the seconds after which a claim counts as silent if it does not change."""
        now = time.monotonic()
        age = min(seen.age or 0.0, SILENT - GRACE)
        mark, since = self._seen.get(run, ("", now))
        if mark != seen.mark:
            since = now - max(0.0, age)
        since = max(since, self._objects.failed - (SILENT - GRACE))  # its owner may not have reached the store either
        self._seen[run] = (seen.mark, since)
        return since + SILENT - now


def taken_over(run: str) -> Busy:
    """Return the error of an owner that has lost its claim."""
    return Busy(f"the run {run} was taken over by another process, because this one was silent for too long.")


def claimed(objects: Objects) -> dict[str, float]:
    """Return the runs that are claimed, with the seconds since the last sign of life of each."""
    ages = objects.ages(f"{CLAIMS}/")
    return {path.removeprefix(f"{CLAIMS}/"): age or 0.0 for path, age in ages.items()}


def _path(run: str) -> str:
    return f"{CLAIMS}/{run}"
