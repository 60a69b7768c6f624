"""Workers of a simulated study, which claim and deliver runs without training: ``python simulated_worker.py ADDRESS``.

The process reads a worker and a run from each line, and prints the name of each run that the worker has delivered. A
worker has its own view of the store, as it has as a process. Only a few deliver at the same time, because the others
would be training.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from unweave.store.folder import runs_in
from unweave.store.record import read_record
from unweave.store.remote import checkout as checkout_module
from unweave.store.remote.address import Remote
from unweave.store.remote.checkout import checked_out
from unweave.store.state import State, write_state
from unweave.zoo import zoo_store

FILES = ("summary.json", "model.safetensors", "log.jsonl", "checkpoint.safetensors")
AT_ONCE = 8  # workers that deliver at the same time


def write_files(folder: Path) -> None:
    """Write what a run has when it is finished; the contents do not matter, except for those that are parsed."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {name: f"{name} of a run" for name in FILES}
    contents |= {"scores.json": "[]", "configuration.json": json.dumps(_genuine_fields())}
    for name, content in contents.items():
        if not (folder / name).exists():
            (folder / name).write_text(content)


@cache
def _genuine_fields() -> dict[str, Any]:
    return dict(read_record(runs_in(zoo_store())[0], scores=False).fields)


def main(address: str) -> None:
    """Deliver the runs that are read."""
    lines, folder = sys.stdin.readlines(), os.environ["UNWEAVE_CACHE"]
    remotes: dict[str, Remote] = {}
    for worker in dict.fromkeys(line.split()[0] for line in lines):
        os.environ["UNWEAVE_CACHE"] = f"{folder}/{worker}"
        remotes[worker] = Remote(address)
    current = threading.local()
    vars(checkout_module)["open_remote"] = lambda _: current.remote

    def deliver(line: str) -> None:
        worker, run = line.split()
        current.remote = remotes[worker]
        with checked_out(address, run) as checkout:
            write_files(checkout.store / run)
            write_state(checkout.store / run, State("finished", 1, "v"))
        sys.stdout.write(f"{run}\n")  # in one piece, of several threads
        sys.stdout.flush()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(deliver, lines))


if __name__ == "__main__":
    main(sys.argv[1])
