"""The Ray engine: every run is a task of a Ray cluster, on this machine or on many."""

from __future__ import annotations

import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from unweave.errors import InputError, Stopped, Unavailable, extra, first_line
from unweave.progress import set_level
from unweave.study.engines.processes import THREADS
from unweave.study.engines.queue import PAUSE, Queue
from unweave.study.engines.worker import Report, Task, Worker

GRACE = 30.0  # seconds that runs have for a checkpoint after Ctrl-C
SILENT = 30.0  # seconds that the head of a cluster may be silent; after 60, Ray ends this process
POLL = 1.0  # seconds between two looks at the cluster
AGAIN = (
    "what is finished is kept, and runs under way have their checkpoints. Start the cluster and the same command again."
)
NODE_ID = "ray.io/node-id"  # a label that every node has
ENVIRONMENT = {  # Ray reads these when it is imported, or when it starts
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # of what nodes print, also when one is lost: all lines
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_worker_niceness": "0",  # by default, runs would yield to every other process of the machine
}


@dataclass(frozen=True)
class ClusterRequest:
    """The cluster, how many runs it trains at the same time at most, and what each of them needs."""

    workers: int | None
    address: str | None
    cpus: float
    gpus: float


@dataclass
class Attempt:
    """A run that a task of Ray carries out, and the node where its worker is ready, "" before it is."""

    run: str
    node: str = ""


class Node(NamedTuple):
    """A node of the cluster: what it is called, and how many runs it can train at the same time."""

    name: str
    room: int


def run_tasks(
    tasks: Mapping[str, Task],
    wanted: ClusterRequest,
    report: Callable[[Report], None],
    watch: Callable[[list[str], str], None],
) -> None:
    """Carry out tasks on a Ray cluster.

    Ray keeps the processes of ended tasks for the next ones, so data sets stay open in them. A run whose process or
    node is lost is continued elsewhere from its last checkpoint. A node that fails twice in a row gets no more runs;
    Stopped is raised if all nodes have failed, or if the head of the cluster is lost. Ctrl-C ends all tasks with a
    checkpoint.

    Args:
        tasks: The tasks by the names of their runs.
        wanted: The cluster, and what each run needs.
        report: A function that is called for each task that ends.
        watch: A function that is called with the runs under way, and with what is waited for.
    """
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    ray = extra("ray", "ray")
    queue = Queue(tasks, report)
    under_way: dict[Any, Attempt] = {}
    with _cluster(ray, wanted):
        _check_nodes(ray, wanted)
        carry_out, head = _remote(ray, wanted), ray.get_runtime_context().gcs_address
        answered = time.monotonic()
        try:
            while queue or under_way:
                if not _answers(head):
                    if time.monotonic() - answered > SILENT:
                        raise Stopped(f"the head of the Ray cluster at {head} is lost: {AGAIN}")
                    watch([], "waiting for the head of the cluster")
                    time.sleep(POLL)
                    continue
                answered = time.monotonic()
                nodes = _nodes(ray, wanted)
                aside = [key for key, node in nodes.items() if queue.is_aside(node.name)]
                room = sum(node.room for key, node in nodes.items() if key not in aside)
                running = [attempt.run for attempt in under_way.values() if attempt.node]
                if aside and not room and not running:
                    _end(ray, list(under_way))
                    raise queue.stopped()
                while queue.is_ready and len(under_way) < min(room, wanted.workers or room):
                    name, task = queue.take()
                    under_way[_submitted(carry_out, _absolute(task), aside)] = Attempt(name)
                watch(running, "" if room or running else "waiting for a node")
                if not under_way:  # there is no node, or all runs that are left are trained by others
                    time.sleep(PAUSE)
                    continue
                for reports in ray.wait(list(under_way), num_returns=1, timeout=POLL)[0]:
                    if _collect(ray, queue, reports, under_way[reports]):
                        del under_way[reports]
        except KeyboardInterrupt:
            _end(ray, list(under_way))
            raise


def carry_out_here(task: Task) -> Iterator[str | Report]:
    """Carry out a task in a process of Ray, which stays alive for the next one.

    Yields the name of the node, once everything is imported, and then the report.
    """
    import ray

    worker, here = _worker(), ray.get_runtime_context().get_node_id()
    yield _name(str(ray.util.get_node_ip_address()), here)  # type: ignore[no-untyped-call]
    yield worker.carry_out(task)


@cache
def _worker() -> Worker:
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    set_level("quiet")
    return Worker()


@contextmanager
def _cluster(ray: Any, wanted: ClusterRequest) -> Iterator[None]:
    """Connect to a cluster, or start one on this machine that ends with this block."""
    if wanted.address and wanted.address.startswith("ray://"):
        raise InputError(f"give the address of the cluster as HOST:PORT, as for ray start, got {wanted.address!r}.")
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
        raise Unavailable(f"cannot {where}: {first_line(error)}.") from error
    if handler is not None:
        signal.signal(signal.SIGTERM, handler)  # Ray sets its own, which ends the process at once
    try:
        yield
    finally:
        ray.shutdown()


def _check_nodes(ray: Any, wanted: ClusterRequest) -> None:
    """Raise an InputError if no node has what a run needs, which would be waited for forever."""
    if not _nodes(ray, wanted):
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        most = ", ".join(f"{node.get('CPU', 0):g} CPUs and {node.get('GPU', 0):g} GPUs" for node in nodes)
        raise InputError(
            f"a run needs {wanted.cpus:g} CPUs and {wanted.gpus:g} GPUs, but no node of the cluster has them: "
            f"its nodes have {most or 'nothing'}."
        )


def _nodes(ray: Any, wanted: ClusterRequest) -> dict[str, Node]:
    """Return the nodes that are alive and large enough for a run."""
    found = {}
    for node in (node for node in ray.nodes() if node["Alive"]):
        room = int(node["Resources"].get("CPU", 0) / wanted.cpus)
        if wanted.gpus:
            room = min(room, int(node["Resources"].get("GPU", 0) / wanted.gpus))
        if room:
            found[node["NodeID"]] = Node(_name(node["NodeManagerAddress"], node["NodeID"]), room)
    return found


def _name(address: str, node: str) -> str:
    """Return what a node is called; one machine can have several."""
    return f"the node {node[:8]} at {address}"


def _answers(head: str) -> bool:
    """Return whether the head of a cluster accepts connections."""
    host, _, port = head.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=SILENT / 6).close()
    except OSError:
        return False
    return True


def _submitted(carry_out: Any, task: Task, aside: list[str]) -> Any:
    """Submit a task to all nodes but some; what is returned has its reports."""
    others = {"label_selector": {NODE_ID: f"!in({','.join(aside)})"}} if aside else {}
    return carry_out.options(**others).remote(task)


def _remote(ray: Any, wanted: ClusterRequest) -> Any:
    threads = str(max(1, int(wanted.cpus)))
    return ray.remote(
        num_cpus=wanted.cpus,
        num_gpus=wanted.gpus,
        num_returns="streaming",
        max_retries=0,  # the queue repeats them
        scheduling_strategy="SPREAD",
        runtime_env={"env_vars": dict.fromkeys(THREADS, threads)},
    )(carry_out_here)


def _collect(ray: Any, queue: Queue, reports: Any, attempt: Attempt) -> bool:
    """Take what a task has reported, and return whether it has ended."""
    try:
        said = ray.get(next(reports))
    except ray.exceptions.RayTaskError as error:  # an error outside of what a worker records, such as a wrong version
        raise Stopped(f"the run {attempt.run} could not be started on the cluster: {error.cause}") from error
    except ray.exceptions.OutOfMemoryError:
        full = Report(attempt.run, "elsewhere", 0.0, "Ray has ended a worker because the memory of its node was full")
        queue.answer(full, attempt.node) if attempt.node else queue.lose(attempt.run, ready=False)
        return True
    except ray.exceptions.RayError:  # its process or its node has died
        queue.lose(attempt.run, ready=bool(attempt.node))
        return True
    if isinstance(said, str):
        attempt.node = said
        return False
    if not queue.answer(said, attempt.node):
        time.sleep(PAUSE)
    return True


def _absolute(task: Task) -> Task:
    return task if "://" in task.store else replace(task, store=str(Path(task.store).absolute()))


def _end(ray: Any, under_way: list[Any]) -> None:
    """Cancel tasks, and wait until those that train have written a checkpoint."""
    for reports in under_way:
        ray.cancel(reports)  # raises KeyboardInterrupt there, which training answers with a checkpoint
    end = time.monotonic() + GRACE
    with suppress(KeyboardInterrupt):
        while under_way and time.monotonic() < end:
            for reports in ray.wait(under_way, num_returns=1, timeout=POLL)[0]:
                try:
                    ended = isinstance(ray.get(next(reports)), Report)
                except (StopIteration, ray.exceptions.RayError):
                    ended = True
                if ended:
                    under_way.remove(reports)
