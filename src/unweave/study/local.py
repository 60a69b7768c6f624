"""The local engine: worker processes on this machine, one thread each, that stay alive between runs."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from unweave.study.worker import Report, Task, work

ATTEMPTS = 5  # of one run whose worker was killed, before the run counts as failed
PAUSE = 0.2  # seconds between two looks at runs that another launcher is training
ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
MEMORY = 1.5 * 2**30  # bytes that a worker may need


@dataclass
class Slot:
    """A worker process and the task that it has."""

    process: Any
    connection: Connection
    task: Task | None = None
    name: str = ""


@dataclass
class Queue:
    """Tasks that are waiting, by the names of their runs, and how often each was begun."""

    tasks: dict[str, Task]
    waiting: deque[str] = field(init=False)
    begun: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.waiting = deque(self.tasks)


def default_workers() -> int:
    """Return one worker per core, fewer if there is not enough memory."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return cores
    return max(1, min(cores, int(memory / MEMORY)))


def run_tasks(
    tasks: dict[str, Task], workers: int, report: Callable[[Report], None], watch: Callable[[list[str]], None]
) -> None:
    """Carry out tasks on worker processes; ``report`` is called for each that ends, ``watch`` with those under way.

    A worker that is killed is replaced, and its run is continued from its last checkpoint. Ctrl-C ends all workers with
    a checkpoint.
    """
    context = multiprocessing.get_context("spawn")
    queue = Queue(tasks)
    slots = [_start(context) for _ in range(min(workers, len(tasks)))]
    try:
        while queue.waiting or any(slot.task for slot in slots):
            _hand_out(slots, queue)
            watch([slot.name for slot in slots if slot.task])
            _collect(slots, queue, context, report)
    except KeyboardInterrupt:
        _end(slots)
        raise
    _end(slots)


def _start(context: Any) -> Slot:
    here, there = context.Pipe()
    process = context.Process(target=work, args=(there, ENVIRONMENT), daemon=True)
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)  # numerical libraries read this when they are imported
    try:
        process.start()
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
    there.close()
    return Slot(process, here)


def _hand_out(slots: list[Slot], queue: Queue) -> None:
    for slot in slots:
        if slot.task is None and queue.waiting:
            slot.name = queue.waiting.popleft()
            slot.task = queue.tasks[slot.name]
            queue.begun[slot.name] = queue.begun.get(slot.name, 0) + 1
            with contextlib.suppress(OSError):  # the process has died, which is noticed next
                slot.connection.send(slot.task)


def _collect(slots: list[Slot], queue: Queue, context: Any, report: Callable[[Report], None]) -> None:
    """Wait until something happens: a report, or the death of a worker."""
    busy = [slot for slot in slots if slot.task]
    ready = set(wait([s.connection for s in busy] + [s.process.sentinel for s in busy], timeout=1.0))
    for place, slot in enumerate(slots):
        if slot.task is None or not ready & {slot.connection, slot.process.sentinel}:
            continue
        try:
            said = slot.connection.recv() if slot.connection.poll() else None
        except (EOFError, OSError):
            said = None
        if said is None and slot.process.is_alive():
            continue
        name, slot.task = slot.name, None
        if said is None:
            slot.process.join()
            slot.connection.close()
            slots[place] = _start(context)
            if queue.begun[name] >= ATTEMPTS:
                report(Report(name, "failed", 0.0, f"its worker was killed {ATTEMPTS} times"))
            else:
                queue.waiting.appendleft(name)
        elif said.outcome == "busy":
            queue.waiting.append(name)
            queue.begun[name] -= 1
            time.sleep(PAUSE)
        else:
            report(said)


def _end(slots: Iterable[Slot]) -> None:
    for slot in slots:
        if slot.task is not None and slot.process.is_alive():
            os.kill(slot.process.pid, signal.SIGTERM)  # which training answers with a checkpoint
        with contextlib.suppress(OSError):
            slot.connection.send(None)
    for slot in slots:
        slot.process.join()
        slot.connection.close()
