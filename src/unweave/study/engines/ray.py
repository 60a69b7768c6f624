"""The Ray engine: every run is a task of a Ray cluster, on this machine or on many."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from unweave.errors import InputError, Unavailable, extra
from unweave.progress import set_level
from unweave.study.engines.queue import PAUSE, Queue
from unweave.study.engines.worker import Report, Task, Worker

GRACE = 30.0  # seconds that runs have for a checkpoint after Ctrl-C
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
ENVIRONMENT = {  # Ray reads these when it is imported, or when it starts
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # of what nodes print, also when one is lost: all lines
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_worker_niceness": "0",  # by default, runs would yield to every other process of the machine
}


@dataclass(frozen=True)
class Wanted:
    """The cluster, how many runs it trains at the same time at most, and what each of them needs."""

    workers: int | None
    address: str | None
    cpus: float
    gpus: float


def run_tasks(
    tasks: Mapping[str, Task], wanted: Wanted, report: Callable[[Report], None], watch: Callable[[list[str]], None]
) -> None:
    """Carry out tasks on a Ray cluster; ``report`` is called for each that ends, ``watch`` with those under way.

    Ray keeps the processes of ended tasks for the next ones, so data sets stay open in them. A run whose process or
    node is lost is continued elsewhere from its last checkpoint. Ctrl-C ends all tasks with a checkpoint.
    """
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    ray = extra("ray", "ray")
    queue = Queue(tasks, report)
    under_way: dict[Any, str] = {}
    with _cluster(ray, wanted):
        _check_nodes(ray, wanted)
        carry_out = _remote(ray, wanted)
        try:
            while queue or under_way:
                while queue.is_ready and len(under_way) < _capacity(ray, wanted):
                    name, task = queue.take()
                    under_way[carry_out.remote(_absolute(task))] = name
                watch(list(under_way.values()))
                if not under_way:  # all runs that are left are trained by others
                    time.sleep(PAUSE)
                    continue
                ended, _ = ray.wait(list(under_way), num_returns=1, timeout=1.0)
                for reference in ended:
                    _collect(ray, queue, reference, under_way.pop(reference))
        except KeyboardInterrupt:
            _end(ray, list(under_way))
            raise


def carry_out_here(task: Task) -> Report:
    """Carry out a task in a process of Ray, which stays alive for the next one."""
    return _worker().carry_out(task)


@cache
def _worker() -> Worker:
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    set_level("quiet")
    return Worker()


@contextmanager
def _cluster(ray: Any, wanted: Wanted) -> Iterator[None]:
    """Connect to a cluster, or start one on this machine that ends with this block."""
    if ray.is_initialized():  # by the user, in a notebook for example
        yield
        return
    here: dict[str, Any] = {} if wanted.address else {"include_dashboard": False}
    if wanted.workers and not wanted.address:
        here["num_cpus"] = max(1, int(wanted.workers * wanted.cpus))
    handler = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address=wanted.address or "local", log_to_driver=False, logging_level=logging.ERROR, **here)
    except Exception as error:  # Ray raises plain exceptions too
        where = f"connect to the Ray cluster at {wanted.address!r}" if wanted.address else "start Ray on this machine"
        raise Unavailable(f"cannot {where}: {str(error).splitlines()[0]}") from error
    if handler is not None:
        signal.signal(signal.SIGTERM, handler)  # Ray sets its own, which ends the process at once
    try:
        yield
    finally:
        ray.shutdown()


def _check_nodes(ray: Any, wanted: Wanted) -> None:
    """Raise an InputError if no node has what a run needs, which Ray would wait for forever."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if not any(node.get("CPU", 0) >= wanted.cpus and node.get("GPU", 0) >= wanted.gpus for node in nodes):
        most = ", ".join(f"{node.get('CPU', 0):g} CPUs and {node.get('GPU', 0):g} GPUs" for node in nodes)
        raise InputError(
            f"a run needs {wanted.cpus:g} CPUs and {wanted.gpus:g} GPUs, but no node of the cluster has them: "
            f"its nodes have {most or 'nothing'}."
        )


def _remote(ray: Any, wanted: Wanted) -> Any:
    threads = str(max(1, int(wanted.cpus)))
    return ray.remote(
        num_cpus=wanted.cpus,
        num_gpus=wanted.gpus,
        max_retries=0,  # the queue repeats them
        scheduling_strategy="SPREAD",
        runtime_env={"env_vars": dict.fromkeys(THREADS, threads)},
    )(carry_out_here)


def _capacity(ray: Any, wanted: Wanted) -> int:
    """Return how many runs the cluster can train at the same time, with the nodes that it has now."""
    room = 0
    for node in (node["Resources"] for node in ray.nodes() if node["Alive"]):
        places = int(node.get("CPU", 0) / wanted.cpus)
        room += min(places, int(node.get("GPU", 0) / wanted.gpus)) if wanted.gpus else places
    return max(1, min(room, wanted.workers or room))


def _collect(ray: Any, queue: Queue, reference: Any, name: str) -> None:
    try:
        said = ray.get(reference)
    except ray.exceptions.RayTaskError as error:  # an error outside of what a worker records, such as a wrong version
        raise Unavailable(f"the run {name} could not be started on the cluster: {error.cause}") from error
    except ray.exceptions.RayError:  # its process or its node has died
        queue.lose(name)
        return
    if not queue.answer(said):
        time.sleep(PAUSE)


def _absolute(task: Task) -> Task:
    return task if "://" in task.store else replace(task, store=str(Path(task.store).absolute()))


def _end(ray: Any, references: list[Any]) -> None:
    for reference in references:
        ray.cancel(reference)  # raises KeyboardInterrupt there, which training answers with a checkpoint
    with suppress(KeyboardInterrupt):
        ray.wait(references, num_returns=len(references), timeout=GRACE)
