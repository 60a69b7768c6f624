"""The index of a store at an address: objects below ``index/`` with many runs each, so that few requests tell all.

A worker adds each run that it has finished to an object of its own, which it writes again with every run and leaves for
a new one when it is full. Launchers join the small objects into large ones. A row counts only if its stamp is that of
the files in the store, so that a lost or outdated object costs time and is never wrong.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from unweave.store.folder import CONFIGURATION, LABEL, SCORES, STATE
from unweave.store.index import joined_tables, read_table, table_content, table_of
from unweave.store.lock import Busy
from unweave.store.record import LEFT_OUT, SCORING_ERROR, Record
from unweave.store.remote.claims import Claims
from unweave.store.remote.objects import Objects

INDEX = "index"
SMALL = (CONFIGURATION, SCORES, LEFT_OUT, SCORING_ERROR, LABEL, STATE)  # files that a record is read from
FULL = 50  # runs in the object of one worker
LARGE = 1000  # runs in an object that is not joined with others any more
MANY = 48  # smaller objects from which on they are joined


class SharedIndex:
    """The index objects of a store, as one process writes and reads them."""

    def __init__(self, objects: Objects, claims: Claims) -> None:
        self._objects, self._claims = objects, claims
        self._lock = threading.Lock()
        self._own: list[Any] = []  # tables of one row, of the object that this process writes
        self._path = ""

    def add(self, record: Record, stamp: str) -> None:
        """Add a run that has ended; only finished ones are worth it."""
        if record.status != "finished" or record.scoring_failed or find_spec("pyarrow") is None:
            return
        row = table_of({record.name: record}, {record.name: stamp})
        with self._lock:
            if not self._path or len(self._own) >= FULL:
                self._own, self._path = [], f"{INDEX}/{uuid.uuid4().hex}.parquet"
            self._own.append(row)
            content, path = table_content(joined_tables(self._own)), self._path
        self._objects.write(path, content)

    def tables(self, known: Mapping[str, str]) -> tuple[list[Any], dict[str, str]]:
        """Return the tables of all objects that are not ``known`` with the same mark, and the marks of all."""
        there = self._objects.list(f"{INDEX}/")
        new = [path for path, mark in there.items() if known.get(path) != mark]
        found = (read_table(content, path) for path, content in self._objects.read_all(new).items())
        return [table for table in found if table is not None], there

    def compact(self) -> None:
        """Join the small objects into large ones if there are many, unless another process does it.

        Workers go on writing their objects with rows that were joined before; rows of large objects are not written
        again.
        """
        there = self._objects.list(f"{INDEX}/")
        small = {path: mark for path, mark in there.items() if _rows_in(path) < LARGE}
        if len(small) < MANY or find_spec("pyarrow") is None:
            return
        with suppress(Busy), self._claims.taken(INDEX):
            read = {path: read_table(content, path) for path, content in self._objects.read_all(there).items()}
            large = [table for path, table in read.items() if table is not None and path not in small]
            table = joined_tables([read[path] for path in small if read.get(path) is not None], without=large)
            for start in range(0, 0 if table is None else len(table), LARGE):
                part = table.slice(start, LARGE)
                path = f"{INDEX}/{len(part):06}-{uuid.uuid4().hex}.parquet"
                self._objects.write(path, table_content(part.combine_chunks()))
            now = self._objects.list(f"{INDEX}/")  # an object that its worker has written since is left
            self._objects.remove(path for path in small if path in read and now.get(path) == small[path])


def stamp_of(marks: Mapping[str, str]) -> str:
    """Return the stamp of a run from the marks of its files by name, "" if it has no state."""
    return " ".join(f"{name}={marks[name]}" for name in SMALL if name in marks) if STATE in marks else ""


def _rows_in(path: str) -> int:
    """Return how many runs an object has that was joined from others, as its name says; 0 for others."""
    number = path.removeprefix(f"{INDEX}/").partition("-")[0]
    return int(number) if number.isdecimal() and len(number) == 6 else 0
