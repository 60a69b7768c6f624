"""A simulated study in a store on S3: a server that counts, workers that claim, beat and deliver without training."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from simulated_worker import write_files
from unweave.store.remote import checkout as checkout_module
from unweave.store.remote.address import open_remote
from unweave.store.remote.checkout import checked_out
from unweave.store.state import State, write_state
from unweave.study.engines.engine import Engine
from unweave.study.engines.worker import Report

BUCKET = "studies"
PROCESSES = 2  # that carry out a study
SERVER, FILLED, WORKER = (
    Path(__file__).with_name(f"{name}.py") for name in ("s3_server", "filled_server", "simulated_worker")
)


class Counted(NamedTuple):
    """Requests by kind and area, as in "LIST runs", and the names of the runs in them."""

    requests: Counter[str]
    touched: set[str]

    def kinds(self) -> Counter[str]:
        """Return the requests by kind."""
        found: Counter[str] = Counter()
        for name, count in self.requests.items():
            found[name.partition(" ")[0]] += count
        return found


@contextmanager
def serving(folder: Path, finished: Sequence[str] = ()) -> Iterator[Callable[[], Counted]]:
    """Run a server with finished runs, set the environment that reaches it, and yield a function that counts.

    It returns the requests since it was called before.
    """
    command = [sys.executable, str(FILLED), str(folder)] if finished else [sys.executable, str(SERVER)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n".join(finished))
    process.stdin.close()
    address = f"http://127.0.0.1:{int(process.stdout.readline())}"
    os.environ |= {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "someone",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }

    def counted() -> Counted:
        with urllib.request.urlopen(f"{address}/counts") as answer:
            found = json.load(answer)
        return Counted(Counter(found["requests"]), set(found["touched"]))

    try:
        new_machine(folder / "first")
        open_remote(f"s3://{BUCKET}").objects.system.mkdir(BUCKET)
        counted()
        yield counted
    finally:
        process.kill()
        process.wait()


def new_machine(cache: Path) -> None:
    """Let this process be a machine that has seen nothing of the store."""
    os.environ["UNWEAVE_CACHE"] = str(cache)
    open_remote.cache_clear()


@contextmanager
def simulated_workers(workers: int) -> Iterator[None]:
    """Let studies in this block be carried out by workers that deliver without training."""
    before = Engine.run_tasks

    def run_tasks(_: Engine, tasks: Mapping[str, Any], report: Callable[[Report], None], __: Any) -> None:
        address = next(iter(tasks.values())).store
        lines: list[list[str]] = [[] for _ in range(PROCESSES)]
        for number, run in enumerate(tasks):
            worker = number % workers
            lines[worker % PROCESSES].append(f"{worker} {run}\n")
        ended: queue.Queue[str] = queue.Queue()
        threads = [threading.Thread(target=_process, args=(address, some, ended)) for some in lines if some]
        for thread in threads:
            thread.start()
        for _run in tasks:
            report(Report(ended.get(timeout=600), "finished", 0.0))
        for thread in threads:
            thread.join()

    Engine.run_tasks = run_tasks  # type: ignore[assignment]
    try:
        yield
    finally:
        Engine.run_tasks = before  # type: ignore[method-assign]


def _process(address: str, lines: Sequence[str], ended: queue.Queue[str]) -> None:
    command = [sys.executable, str(WORKER), address]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(lines))
    process.stdin.close()
    for line in process.stdout:
        ended.put(line.strip())
    assert process.wait() == 0


def hold(address: str, runs: Sequence[str], counted: Callable[[], Counted], seconds: float) -> Counted:
    """Let one worker per run hold its claim for some seconds, and return the requests of that time."""
    gates = [threading.Barrier(len(runs) + 1) for _ in range(2)]
    found = []

    def carry_out(run: str) -> None:
        with open_remote(address).claims.taken(run):
            for gate in gates:
                gate.wait()

    def watch() -> None:
        gates[0].wait()
        counted()
        time.sleep(seconds)
        found.append(counted())
        gates[1].wait()

    watcher = threading.Thread(target=watch)
    watcher.start()
    with ThreadPoolExecutor(len(runs)) as pool:
        list(pool.map(carry_out, runs))
    watcher.join()
    return found[0]


def checkpoint(address: str, run: str, counted: Callable[[], Counted]) -> Counted:
    """Return the requests that the delivery of a checkpoint takes, which is not the first of its run."""
    checkout_module.SHARE = 1e6  # however long the first one takes
    with checked_out(address, run, seconds=1e-6) as checkout:
        for number in range(2):
            write_files(checkout.store / run)
            (checkout.store / run / "log.jsonl").write_text(f'{{"step": {number}}}\n')
            (checkout.store / run / "checkpoint.safetensors").write_text(f"step {number}")
            write_state(checkout.store / run, State("running", number, "v"))
            counted()
            checkout.saved()
            for thread in [each for each in threading.enumerate() if each.name == "deliver a checkpoint"]:
                thread.join()
        return counted()
