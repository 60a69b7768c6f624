"""A simulated study in a store on S3: workers that claim, beat and deliver without training, and a server that counts.

``python simulated_study.py`` is the server: moto's, in a process of its own, which prints its port. It answers
``/counts`` with the requests since the last time, and ``/fill`` puts finished runs into a bucket.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from unweave.store.folder import runs_in
from unweave.store.index import joined_tables, table_content, table_of
from unweave.store.record import read_record
from unweave.store.remote import checkout as checkout_module
from unweave.store.remote.address import open_remote
from unweave.store.remote.checkout import checked_out
from unweave.store.remote.shared_index import INDEX, SMALL, stamp_of
from unweave.store.state import State, write_state
from unweave.zoo import zoo_store

BUCKET = "studies"
TABLE_FILES = ("configuration.json", "state.json", "scores.json", "not-applicable.json")
FILES = (*TABLE_FILES, "summary.json", "model.safetensors", "log.jsonl", "checkpoint.safetensors")
PER_WORKER = 25  # runs in the index object of each worker


class Server:
    """The address of a running server, and what it has counted."""

    def __init__(self, address: str) -> None:
        self.address = address

    def counts(self) -> Counter[str]:
        """Return the requests of each kind since the last call."""
        with urllib.request.urlopen(f"{self.address}/counts") as answer:
            return Counter(json.load(answer))

    def fill(self, runs: Sequence[str]) -> None:
        """Put the objects of finished runs into the bucket, without requests for each."""
        body = json.dumps({"runs": list(runs), "files": {name: content_of(name).decode() for name in FILES}})
        urllib.request.urlopen(f"{self.address}/fill", body.encode()).close()


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Run a server with an empty bucket, and set the environment that reaches it."""
    process = subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    server = Server(f"http://127.0.0.1:{int(process.stdout.readline())}")
    os.environ |= {
        "AWS_ENDPOINT_URL": server.address,
        "AWS_ACCESS_KEY_ID": "someone",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    try:
        new_machine(folder / "first")
        open_remote(f"s3://{BUCKET}").objects.system.mkdir(BUCKET)
        server.counts()
        yield server
    finally:
        process.kill()
        process.wait()


def new_machine(cache: Path) -> None:
    """Let this process be a machine that has seen nothing of the store."""
    os.environ["UNWEAVE_CACHE"] = str(cache)
    open_remote.cache_clear()


def content_of(name: str) -> bytes:
    """Return what the objects of filled runs have; only sizes and hashes are looked at."""
    return f"{name} of a run".encode()


def write_index(address: str, runs: Sequence[str]) -> None:
    """Write index objects for filled runs as their workers would have, with the facts of a genuine run."""
    marks = {name: f'"{hashlib.md5(content_of(name)).hexdigest()}" {len(content_of(name))}' for name in FILES}
    stamp = stamp_of({name: marks[name] for name in SMALL if name in marks})
    genuine = read_record(runs_in(zoo_store())[0])
    sizes = {name: len(content_of(name)) for name in FILES if name not in ("state.json", "checkpoint.safetensors")}
    rows = {
        run: replace(genuine, folder=Path(run), sizes=sizes, fields=genuine.fields | {"seed": seed})
        for seed, run in enumerate(runs)
    }
    table = table_of(rows, dict.fromkeys(rows, stamp))
    objects = open_remote(address).objects
    for start in range(0, len(table), PER_WORKER):
        part = joined_tables([table.slice(start, PER_WORKER)])
        objects.write(f"{INDEX}/{hashlib.md5(str(start).encode()).hexdigest()}.parquet", table_content(part))


def work(address: str, runs: Sequence[str], workers: int) -> None:
    """Let workers claim and deliver runs, several at the same time."""
    left, lock = list(runs), threading.Lock()

    def carry_out() -> None:
        while True:
            with lock:
                if not left:
                    return
                run = left.pop()
            with checked_out(address, run) as checkout:
                _write_files(checkout.store / run)
                write_state(checkout.store / run, State("finished", 1, "v"))

    _together(carry_out, workers)


def hold(address: str, runs: Sequence[str], server: Server, seconds: float) -> Counter[str]:
    """Let one worker per run hold its claim for some seconds, and return the requests of that time."""
    gates = [threading.Barrier(len(runs) + 1) for _ in range(2)]
    names = iter(runs)
    counted: Counter[str] = Counter()

    def carry_out() -> None:
        with open_remote(address).claims.taken(next(names)):
            for gate in gates:
                gate.wait()

    def watch() -> None:
        gates[0].wait()
        server.counts()
        time.sleep(seconds)
        counted.update(server.counts())
        gates[1].wait()

    watcher = threading.Thread(target=watch)
    watcher.start()
    _together(carry_out, len(runs))
    watcher.join()
    return counted


def checkpoint(address: str, run: str, server: Server) -> Counter[str]:
    """Return the requests that the delivery of a checkpoint takes, which is not the first of its run."""
    checkout_module.SHARE = 1e6  # however long the first one takes
    with checked_out(address, run, seconds=1e-6) as checkout:
        for number in range(2):
            _write_files(checkout.store / run)
            (checkout.store / run / "log.jsonl").write_text(f'{{"step": {number}}}\n')
            (checkout.store / run / "checkpoint.safetensors").write_text(f"step {number}")
            write_state(checkout.store / run, State("running", number, "v"))
            server.counts()
            checkout.saved()
            for thread in [each for each in threading.enumerate() if each.name == "deliver a checkpoint"]:
                thread.join()
        return server.counts()


def _together(function: Callable[[], None], workers: int) -> None:
    threads = [threading.Thread(target=function) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _write_files(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    contents = {name: content_of(name) for name in FILES if name not in ("state.json", "not-applicable.json")}
    contents |= {"scores.json": b"[]", "configuration.json": json.dumps(_genuine_fields()).encode()}
    for name, content in contents.items():
        if not (folder / name).exists():
            (folder / name).write_bytes(content)


@cache
def _genuine_fields() -> dict[str, Any]:
    return dict(read_record(runs_in(zoo_store())[0], scores=False).fields)


def _serve() -> None:
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from moto.s3.models import s3_backends
    from werkzeug.serving import WSGIRequestHandler, make_server

    moto = DomainDispatcherApplication(create_backend_app)
    counts: Counter[str] = Counter()
    lock = threading.Lock()

    def fill(environ: dict[str, Any]) -> None:
        wanted = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
        backend = s3_backends["123456789012"]["aws"]
        for run in wanted["runs"]:
            for name, content in wanted["files"].items():
                backend.put_object(BUCKET, f"{run}/{name}", content.encode())

    def app(environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        path = environ["PATH_INFO"]
        if path in ("/counts", "/fill"):
            if path == "/fill":
                fill(environ)
            with lock:
                content = json.dumps(counts).encode()
                counts.clear()
            start("200 OK", [("Content-Length", str(len(content)))])
            return [content]
        with lock:
            counts["LIST" if "list-type=" in environ["QUERY_STRING"] else environ["REQUEST_METHOD"]] += 1
        return moto(environ, start)

    class Quiet(WSGIRequestHandler):
        protocol_version = "HTTP/1.1"

        def log(self, *_: Any) -> None:
            pass

    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    _serve()
