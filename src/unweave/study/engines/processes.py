"""The local engine: worker processes on this machine, one thread each, that stay alive between runs."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from unweave.errors import Stopped
from unweave.study.engines.queue import ATTEMPTS, PAUSE, UNREADY, Queue
from unweave.study.engines.worker import READY, Report, Task, work

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
ENVIRONMENT = dict.fromkeys(THREADS, "1")
MEMORY = 1.5 * 2**30  # bytes that a worker may need
MEMINFO, CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


@dataclass
class WorkerProcess:
    """A worker process and the task that it has."""

    process: Any
    connection: Connection
    task: Task | None = None
    name: str = ""
    deaths: int = 0  # of the processes in its place before it, one after the other, while they still imported
    ready: bool = False  # whether it has imported everything; before that it gets no task


def default_workers() -> int:
    """Return one worker per core, fewer if there is not enough memory."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = available_memory()
    return cores if memory is None else max(1, min(cores, int(memory / MEMORY)))


def available_memory() -> int | None:
    """Return the bytes that can be used without swapping, within the limit of a container; None if not known."""
    found = []
    with contextlib.suppress(OSError, StopIteration, ValueError):
        lines = MEMINFO.read_text().splitlines()  # free memory alone leaves out what the file cache would give back
        found.append(1024 * int(next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))))
    with contextlib.suppress(OSError, ValueError):  # ValueError: the limit is "max"
        limit, used = (int((CGROUP / name).read_text()) for name in ("memory.max", "memory.current"))
        found.append(max(0, limit - used))
    return min(found, default=None)


def run_tasks(
    tasks: Mapping[str, Task], workers: int, report: Callable[[Report], None], watch: Callable[[list[str], str], None]
) -> None:
    """Carry out tasks on worker processes.

    A worker that is killed is replaced, and its run is continued from its last checkpoint. If this machine fails twice
    in a row, what is under way is waited for, and Stopped is raised. Ctrl-C ends all workers with a checkpoint, and a
    second Ctrl-C ends them at once.

    Args:
        tasks: The tasks by the names of their runs.
        workers: The number of processes.
        report: A function that is called for each task that ends.
        watch: A function that is called with the runs under way, and with what is waited for.
    """
    context, machine = multiprocessing.get_context("spawn"), socket.gethostname()
    queue = Queue(tasks, report)
    pool: list[WorkerProcess] = []
    try:
        pool.extend(_start(context) for _ in range(min(workers, len(tasks))))
        while queue or any(worker.task for worker in pool):
            if not queue.is_aside(machine):
                _hand_out(pool, queue)
            elif not any(worker.task for worker in pool):
                raise queue.stopped()
            watch([worker.name for worker in pool if worker.task], "")
            _collect(pool, queue, context, machine)
    finally:
        _end(pool)


def _start(context: Any, deaths: int = 0) -> WorkerProcess:
    if deaths == ATTEMPTS:
        raise Stopped(UNREADY)
    here, there = context.Pipe()
    process = context.Process(target=work, args=(there, ENVIRONMENT), daemon=True)
    with single_threaded(), _terminal_held_back():
        process.start()
    there.close()
    return WorkerProcess(process, here, deaths=deaths)


@contextlib.contextmanager
def _terminal_held_back() -> Iterator[None]:
    """Block Ctrl-C for processes that are started here, from their first moment; this one receives it afterwards.

    A terminal sends it to the launcher and to its workers; the launcher alone decides, and stops each worker once.
    """
    resource_tracker.ensure_running()  # which unblocks signals when it is started
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def single_threaded() -> Iterator[None]:
    """Let processes that are started here use one thread; numerical libraries read this when they are imported."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


def _hand_out(pool: list[WorkerProcess], queue: Queue) -> None:
    for worker in pool:
        if worker.ready and worker.task is None and queue.is_ready:
            worker.name, worker.task = queue.take()
            with contextlib.suppress(OSError):  # the process has died, which is noticed next
                worker.connection.send(worker.task)


def _collect(pool: list[WorkerProcess], queue: Queue, context: Any, machine: str) -> None:
    """Wait until something happens: a worker is ready, a report, or the death of a worker."""
    busy = [worker for worker in pool if worker.task or not worker.ready]
    if not busy:  # all runs that are left are trained by others
        time.sleep(PAUSE)
        return
    ready = set(wait([each.connection for each in busy] + [each.process.sentinel for each in busy], timeout=1.0))
    for place, worker in enumerate(pool):
        if worker not in busy or not ready & {worker.connection, worker.process.sentinel}:
            continue
        try:
            said = worker.connection.recv() if worker.connection.poll() else None
        except (EOFError, OSError):
            said = None
        if said is None and worker.process.is_alive():
            continue
        if said == READY:
            worker.ready = True
            continue
        had, worker.task = worker.task, None
        if said is None:
            worker.process.join()
            worker.connection.close()
            pool[place] = _start(context, worker.deaths + 1 if had is None else 0)
            if had is not None:
                queue.lose(worker.name)
        elif not queue.answer(said, machine):
            time.sleep(PAUSE)


def _end(pool: Iterable[WorkerProcess]) -> None:
    try:
        for worker in pool:
            if worker.task is not None and worker.process.is_alive():
                os.kill(worker.process.pid, signal.SIGTERM)  # which training answers with a checkpoint
            with contextlib.suppress(OSError):
                worker.connection.send(None)
        for worker in pool:
            worker.process.join()
    except KeyboardInterrupt:  # the second one
        for worker in pool:
            worker.process.kill()
            worker.process.join()
        raise
    for worker in pool:
        worker.connection.close()
