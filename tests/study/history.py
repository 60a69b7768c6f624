"""The history of claims that a store at an address logs, and a checker that reads it, in the spirit of Jepsen."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from unweave.store.remote.claims import HISTORY


class Event(NamedTuple):
    """What one owner did, from when to when, by a clock that all of them share."""

    event: str  # claim, takeover, beat, loss, deliver or release
    run: str
    token: str  # of the owner
    began: float
    ended: float
    status: str = ""  # that was delivered
    step: int = 0


class Recorder(logging.Handler):
    """Appends every event of this process to a file, one line each."""

    def __init__(self, path: Path) -> None:
        super().__init__(logging.DEBUG)
        self._file = path.open("a", encoding="utf-8", buffering=1)

    def emit(self, record: logging.LogRecord) -> None:
        self._file.write(f"{record.getMessage()}\n")

    def __enter__(self) -> Recorder:
        HISTORY.addHandler(self)
        HISTORY.setLevel(logging.DEBUG)
        return self

    def __exit__(self, *_: object) -> None:
        HISTORY.removeHandler(self)
        HISTORY.setLevel(logging.NOTSET)
        self._file.close()


def read_history(path: Path) -> list[Event]:
    """Return the events of a file in the order in which they ended."""
    events = [Event(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    return sorted(events, key=lambda event: event.ended)


def violations(history: Iterable[Event]) -> list[str]:
    """Return what must not happen but did.

    A run has one owner at a time: a new claim comes after the release of the one before, or takes it over. An owner
    neither beats, delivers nor releases after it was taken over. A run is delivered as finished at most once.
    """
    found: list[str] = []
    runs: dict[str, list[Event]] = {}
    for event in history:
        runs.setdefault(event.run, []).append(event)
    for run, events in runs.items():
        released = {event.token: event.began for event in events if event.event == "release"}
        owner, lost = "", {}
        for event in events:
            if event.event in ("claim", "takeover"):
                if event.event == "claim" and owner and released.get(owner, float("inf")) > event.ended:
                    found.append(f"{run}: {event.token} has claimed it while {owner} owns it")
                if owner:
                    lost[owner] = event.ended
                owner = event.token
            elif event.event != "loss" and event.began > lost.get(event.token, float("inf")):
                found.append(f"{run}: {event.token} has made a {event.event} after it lost its claim")
        ends = [event for event in events if event.event == "deliver" and event.status == "finished"]
        if len(ends) > 1:
            found.append(f"{run}: delivered {len(ends)} times")
    return found
