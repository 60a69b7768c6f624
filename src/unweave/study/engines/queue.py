"""The tasks of a study that wait for a worker, and what becomes of those whose worker is lost."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping

from unweave.store.lock import Busy
from unweave.study.engines.worker import Report, Task, record_lost

ATTEMPTS = 5  # of one run whose worker was killed, before the run counts as failed
PAUSE = 0.2  # seconds between two looks at runs that another launcher is training


class Queue:
    """Tasks by the names of their runs; every engine takes from it until it is empty."""

    def __init__(self, tasks: Mapping[str, Task], report: Callable[[Report], None]) -> None:
        self._tasks, self._report = tasks, report
        self._waiting = deque(tasks)
        self._begun = dict.fromkeys(tasks, 0)
        self._busy: dict[str, float] = {}  # when it is worth to look at a busy run again

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_ready(self) -> bool:
        """Whether a run can be taken now; runs that others train are looked at now and then."""
        for _ in range(len(self._waiting)):
            if self._busy.get(self._waiting[0], 0.0) <= time.monotonic():
                return True
            self._waiting.rotate(-1)
        return False

    def take(self) -> tuple[str, Task]:
        """Return the next run and its task."""
        name = self._waiting.popleft()
        self._begun[name] += 1
        return name, self._tasks[name]

    def answer(self, said: Report) -> bool:
        """Handle a worker's report; requeue the run and return False if another launcher trains it.

        If the store cannot be reached any more, the runs that wait are given up, because none of them could end.
        """
        if said.outcome == "busy":
            self._waiting.append(said.run)
            self._busy[said.run] = time.monotonic() + said.again
            self._begun[said.run] -= 1
            return False
        if said.outcome == "away":
            self._waiting.clear()
        self._report(said)
        return True

    def lose(self, name: str) -> None:
        """Put back a run whose worker was killed, to continue from its checkpoint; after some attempts it failed."""
        if self._begun[name] < ATTEMPTS:
            self._waiting.appendleft(name)
            return
        error, failed = f"its worker was killed {ATTEMPTS} times", True
        try:
            failed = record_lost(self._tasks[name], error)
        except Busy:  # another launcher has it
            self.answer(Report(name, "busy", 0.0, again=PAUSE))
            return
        except OSError:  # of a full disk
            pass
        self._report(Report(name, "failed", 0.0, error) if failed else Report(name, "finished", 0.0))
