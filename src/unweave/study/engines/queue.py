"""The tasks of a study that wait for a worker, and what becomes of those whose worker or machine has failed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping

from unweave.errors import Stopped
from unweave.progress import say
from unweave.store.lock import Busy
from unweave.study.engines.worker import Report, Task, record_lost

ATTEMPTS = 5  # of one run whose worker was killed or whose machine failed, before the run counts as failed
IN_A_ROW = 2  # failures of a machine, one after the other, after which it gets no more runs
UNREADY = (
    f"worker processes were killed {ATTEMPTS} times before they were ready: check the memory of the machine, or use "
    "fewer --workers."
)
PAUSE = 0.2  # seconds between two looks at runs that another launcher is training


class Queue:
    """Tasks by the names of their runs; every engine takes from it until it is empty."""

    def __init__(self, tasks: Mapping[str, Task], report: Callable[[Report], None]) -> None:
        self._tasks, self._report = tasks, report
        self._waiting = deque(tasks)
        self._begun = dict.fromkeys(tasks, 0)
        self._unready = dict.fromkeys(tasks, 0)  # workers that were killed before they began
        self._busy: dict[str, float] = {}  # when it is worth to look at a busy run again
        self._failing: dict[str, list[str]] = {}  # machines whose last runs failed because of them, and why

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_ready(self) -> bool:
        """Return whether a run can be taken now; runs that others train are looked at now and then."""
        for _ in range(len(self._waiting)):
            if self._busy.get(self._waiting[0], 0.0) <= time.monotonic():
                return True
            self._waiting.rotate(-1)
        return False

    def is_aside(self, machine: str) -> bool:
        """Return whether a machine has failed too often to get more runs; one that finishes a run is used again."""
        return len(self._failing.get(machine, ())) >= IN_A_ROW

    def stopped(self) -> Stopped:
        """Return the error of a study whose machines have all failed."""
        machines = ", ".join(f"{name} ({errors[-1].rstrip('.')})" for name, errors in self._failing.items())
        return Stopped(f"no machine is left that can train runs: {machines}.")

    def take(self) -> tuple[str, Task]:
        """Return the next run and its task."""
        name = self._waiting.popleft()
        self._begun[name] += 1
        return name, self._tasks[name]

    def answer(self, said: Report, machine: str) -> bool:
        """Handle the report of a worker on a machine; return False if another launcher trains the run.

        Such a run waits, and so does one whose machine has failed.
        """
        if said.outcome == "busy":
            self._waiting.append(said.run)
            self._busy[said.run] = time.monotonic() + said.again
            self._begun[said.run] -= 1
            return False
        if said.outcome in ("elsewhere", "away"):
            errors = self._failing.setdefault(machine, [])
            errors.extend([said.error] * (IN_A_ROW if said.outcome == "away" else 1))
            rest = "it gets no more runs" if self.is_aside(machine) else "the run is tried again"
            say(f"{machine}: {said.error.rstrip('.')}; {rest}.")
            if self._begun[said.run] < ATTEMPTS:
                self._waiting.append(said.run)
            else:
                self._fail(said.run, said.error)
            return True
        self._failing.pop(machine, None)
        self._report(said)
        return True

    def lose(self, name: str, *, ready: bool = True) -> None:
        """Put back a run whose worker was killed, to continue from its checkpoint; after some attempts it failed.

        It is no attempt of the run if its worker was not ``ready`` yet.
        """
        if not ready:
            self._begun[name] -= 1
            self._unready[name] += 1
            if self._unready[name] == ATTEMPTS:
                raise Stopped(UNREADY)
        if self._begun[name] < ATTEMPTS:
            self._waiting.appendleft(name)
        else:
            self._fail(name, f"its worker was killed {ATTEMPTS} times")

    def _fail(self, name: str, error: str) -> None:
        """Record that a run has failed, unless another launcher has it or has finished it."""
        failed = True
        try:
            failed = record_lost(self._tasks[name], error)
        except Busy:  # another launcher has it
            self.answer(Report(name, "busy", 0.0, again=PAUSE), "")
            return
        except OSError:  # of a full disk
            pass
        self._report(Report(name, "failed", 0.0, error) if failed else Report(name, "finished", 0.0))
