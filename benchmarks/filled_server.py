"""The small S3 server with the store that a study of finished runs leaves: ``python filled_server.py FOLDER``.

The names of the runs are read from the standard input. Their files and index objects are those of a simulated study,
without its 13 requests per run; the port is printed when they are there.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

from s3_server import Bucket, Server, main
from simulated_study import BUCKET
from simulated_worker import write_files
from unweave.store.damage import promise_of
from unweave.store.folder import CHECKPOINT
from unweave.store.index import table_content, table_of
from unweave.store.record import read_record
from unweave.store.remote.shared_index import INDEX, LARGE, stamp_of
from unweave.store.state import State, write_state


def filled(runs: list[str], folder: Path) -> Bucket:
    """Return a bucket with finished runs and their index."""
    bucket, one = Bucket(), folder / runs[0]
    write_files(one)
    promised = [file.name for file in one.iterdir() if file.name != CHECKPOINT]
    write_state(one, State("finished", 1, "v", files=promise_of(one, promised)))
    contents = {file.name: file.read_bytes() for file in one.iterdir()}
    for run in sorted(runs):
        for name, content in contents.items():
            bucket.put(f"{run}/{name}", content, {})
    marks = {name: f"{bucket.objects[f'{one.name}/{name}'].etag} {len(content)}" for name, content in contents.items()}
    record, stamp = read_record(one), stamp_of(marks)
    for start in range(0, len(runs), LARGE):
        some = runs[start : start + LARGE]
        table = table_of({run: replace(record, folder=folder / run) for run in some}, dict.fromkeys(some, stamp))
        bucket.put(f"{INDEX}/{len(some):06}-{start:032}.parquet", table_content(table), {})
    return bucket


if __name__ == "__main__":
    asyncio.run(main(Server({BUCKET: filled(sys.stdin.read().split(), Path(sys.argv[1]))})))
