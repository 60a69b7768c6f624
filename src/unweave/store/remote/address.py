"""A store at an address such as ``s3://bucket/path``, and copies of its runs on this machine.

The store holds the files of a run under its name, as a folder does. The state of a run is written last and removed
first: what has no state is not a run, and is overwritten by the next upload. On this machine ``runs`` has copies of
what was read, and ``work`` the runs that are trained here until they are delivered.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import platformdirs
from filelock import FileLock

from unweave.errors import Unavailable
from unweave.store.damage import ASIDE, REASON, broken_promise, damaged_file
from unweave.store.files import write_text
from unweave.store.folder import NAME, SCORES, STATE, SUMMARY, WEIGHTS
from unweave.store.index import INDEX, RecordTable, read_stamped
from unweave.store.lock import HEARTBEAT
from unweave.store.record import DAMAGED, Record, read_record
from unweave.store.remote.claims import CLAIMS, SILENT, Claims, claimed
from unweave.store.remote.objects import TOGETHER, Objects, open_objects, size_in
from unweave.store.remote.shared_index import INDEX as OBJECTS
from unweave.store.remote.shared_index import SMALL, SharedIndex, stamp_of
from unweave.store.state import read_state

Marks = dict[str, str]  # of the files of a run, by name
MODEL = (WEIGHTS, SUMMARY)  # what a finished run has
KNOWN = "known.json"  # what the objects were when they were copied to ``runs``, or read of an index
FEW = 50  # runs that are listed one by one; of more, the whole store is listed


class Remote:
    """A store at an address."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self.objects = open_objects(self.address)
        self.claims = Claims(self.objects)
        self.index = SharedIndex(self.objects, self.claims)
        self.folder = copies_of(self.address)
        self.runs, self.work = self.folder / "runs", self.folder / "work"
        self._keeps = False  # whether a listing is used again
        self._listed: dict[str, Marks] = {}  # of the runs that were listed
        self._all = False  # whether all runs were
        self._shown = False  # whether it is known who trains runs, in a block of one listing

    def records(self, runs: Iterable[str]) -> RecordTable:
        """Read what the store has of runs: from indexes where they match the listing, from the small files elsewhere.

        A finished run whose files are not all there, with the sizes that its state promises, is damaged.
        """
        names = list(dict.fromkeys(runs))
        marks = self._marks(names)
        self.runs.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / "refresh.lock"):
            for name in names:
                if STATE not in marks[name] and (self.runs / name).exists():
                    shutil.rmtree(self.runs / name, ignore_errors=True)
            stamps = {name: stamp_of(marks[name]) for name in names}
            read = read_stamped(self.folder, self.runs, stamps, lambda some: self._read(some, marks), self._tables)
        found = {name: self._checked(record, marks[name]) for name, record in read.records.items()}
        if not self._shown and any(record.status in ("", "running") for record in found.values()):
            self._show_owners()
            self._shown = self._keeps
        return RecordTable(found, read.table)

    @contextmanager
    def one_listing(self) -> Iterator[None]:
        """List the store once for everything that is read in this block."""
        self._keeps = True
        self.list_again()
        try:
            yield
        finally:
            self._keeps = False
            self.list_again()

    def list_again(self) -> None:
        """Let what is read next come from a new listing."""
        self._listed, self._all, self._shown = {}, False, False

    def copy(self, runs: Iterable[str]) -> None:
        """Copy the small files of runs to ``runs``, for callers that need more than their records."""
        names = list(dict.fromkeys(runs))
        marks = self._marks(names)
        with FileLock(self.folder / "refresh.lock"):
            self._read(names, marks)

    def fetch(self, run: str) -> Path:
        """Copy all files of a run to ``runs`` and return its folder; a damaged file is refused."""
        with FileLock(self.folder / "refresh.lock"):
            known = self._known()
            there = self.objects.list(f"{run}/")
            if f"{run}/{STATE}" not in there:
                raise Unavailable(f"the store {self.address} has no run {run}.")
            self.download(there, self.runs, known)
            if reason := self.damage_in(self.runs / run, f"{self.address}/{run}"):
                shutil.rmtree(self.runs / run)
                raise Unavailable(
                    f"{reason} To train the run again: unweave study check SPEC --repair, then study run."
                )
            self._remember({**known, **there})
        return self.runs / run

    def damage_of(self, run: str) -> str:
        """Read every file of a run, and return what is damaged, "" if nothing is."""
        there = self.objects.list(f"{run}/")
        aside = self.work / f".{run}.checked"
        try:
            self.download(there, aside)
            return self.damage_in(aside / run, f"{self.address}/{run}") if there else ""
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def damage_in(self, folder: Path, place: str) -> str:
        """Return what is damaged in the copy of a run whose files are at a place, "" if nothing is."""
        record = read_record(folder)
        if record.status == DAMAGED:
            return record.error.replace(str(folder), place)
        state = read_state(folder)
        files = state.files if state is not None and state.status == "finished" else {}
        if missing := [name for name in files if not (folder / name).exists()]:
            return f"{place}/{missing[0]} is missing."
        if files:
            return broken_promise(folder, files, place)
        return damaged_file(folder, finished=record.status == "finished").replace(str(folder), place)

    def download(self, there: Mapping[str, str], to: Path, known: Mapping[str, str] | None = None) -> None:
        """Copy objects to files below a folder, states last; those that are ``known`` and there are not copied."""
        for path in sorted(there, key=_state_last):
            if known is None or known.get(path) != there[path] or not (to / path).exists():
                (to / path).parent.mkdir(parents=True, exist_ok=True)
                self.objects.download(path, to / path)

    def forget(self, run: str, files: Iterable[str]) -> None:
        """Remove files of a run from the store and from this machine."""
        names = list(files)
        for folder in (self.runs / run, self.work / run):
            for name in names:
                (folder / name).unlink(missing_ok=True)
        self.objects.remove(f"{run}/{name}" for name in names)
        self._listed[run] = {name: mark for name, mark in self._listed.get(run, {}).items() if name not in names}

    def set_aside(self, run: str, reason: str) -> str:
        """Move the objects of a run below ``damaged`` and return where they are now."""
        taken = {path.split("/")[1] for path in self.objects.list(f"{ASIDE}/{run}-")}
        place = next(f"{ASIDE}/{run}-{n}" for n in range(1, 10**6) if f"{run}-{n}" not in taken)
        for path in sorted(self.objects.list(f"{run}/"), key=_state_last, reverse=True):  # no run from now on
            self.objects.move(path, path.replace(run, place, 1))
        self.objects.write(f"{place}/{REASON}", f"{reason}\n".encode())
        for folder in (self.runs / run, self.work / run):
            shutil.rmtree(folder, ignore_errors=True)
        self._listed.pop(run, None)
        return f"{self.address}/{place}"

    def damaged(self) -> list[str]:
        """Return the names of the folders that were set aside."""
        return sorted({path.split("/")[1] for path in self.objects.list(f"{ASIDE}/")})

    def remove_claims(self, finished: Collection[str]) -> None:
        """Remove the claims that machines have left on runs that are finished, which nobody takes over."""
        ages = claimed(self.objects)
        self.objects.remove(f"{CLAIMS}/{run}" for run, age in ages.items() if run in finished and age > SILENT)

    def _known(self) -> dict[str, str]:
        try:
            found = json.loads((self.folder / KNOWN).read_text(encoding="utf-8"))
            return found if isinstance(found, dict) else {}
        except (OSError, ValueError):
            return {}

    def _remember(self, known: Mapping[str, str]) -> None:
        write_text(self.folder / KNOWN, json.dumps(known))

    def _marks(self, runs: Sequence[str]) -> dict[str, Marks]:
        """Return the marks of the files of runs by name."""
        if not (self._keeps and (self._all or self._listed.keys() >= set(runs))):
            self._all = len(runs) > FEW
            there = self.objects.list_all() if self._all else _together(self.objects, runs)
            self._listed = {} if self._all else {run: {} for run in runs}
            for path, mark in there.items():
                run, _, name = path.partition("/")
                if NAME.fullmatch(run) and "/" not in name:
                    self._listed.setdefault(run, {})[name] = mark
        return {run: self._listed.get(run, {}) for run in runs}

    def _read(self, runs: list[str], marks: Mapping[str, Marks]) -> dict[str, Record]:
        """Copy the small files of runs that have changed, and read their records."""
        known, runs = self._known(), [run for run in runs if STATE in marks[run]]
        wanted = {f"{run}/{name}": marks[run][name] for run in runs for name in SMALL if name in marks[run]}
        for run in runs:
            for file in (self.runs / run).iterdir() if (self.runs / run).is_dir() else ():
                if file.name not in marks[run] and file.name != HEARTBEAT:  # removed in the store
                    file.unlink()
        new = [path for path, mark in wanted.items() if known.get(path) != mark or not (self.runs / path).exists()]
        contents = self.objects.read_all(new)
        for path in sorted(contents, key=_state_last):
            _place(self.runs / path, contents[path])
        if contents:
            self._remember(known | {path: wanted[path] for path in contents})
        return {run: read_record(self.runs / run) for run in runs}

    def _tables(self) -> list[Any]:
        """Return the tables of the objects of the index that were not read before."""
        known = self._known()
        own = known if (self.folder / INDEX).exists() else {}
        tables, there = self.index.tables(own)
        self._remember({path: mark for path, mark in known.items() if not path.startswith(f"{OBJECTS}/")} | there)
        return tables

    def _checked(self, record: Record, marks: Marks) -> Record:
        """Return a record, as damaged if the files of a finished run are not as its state promises."""
        if record.status != "finished":
            return record
        place = f"{self.address}/{record.name}"
        missing = [name for name in record.sizes or MODEL if name not in marks and name != SCORES]  # scored again
        reason = f"{place}/{missing[0]} is missing." if missing else ""
        for name, size in record.sizes.items():
            if name in marks and (there := size_in(marks[name])) != size:
                reason = f"{place}/{name} is damaged: it has {there:,} bytes instead of {size:,}."
        return replace(record, status=DAMAGED, error=reason) if reason else record

    def _show_owners(self) -> None:
        """Write a heartbeat into the folder of each run that is being trained, as old as its claim is."""
        owners = {run: age for run, age in claimed(self.objects).items() if NAME.fullmatch(run)}  # not the index
        for path in self.runs.glob(f"*/{HEARTBEAT}"):
            if path.parent.name not in owners:
                path.unlink(missing_ok=True)
        for run, age in owners.items():
            beat = self.runs / run / HEARTBEAT
            beat.parent.mkdir(exist_ok=True)
            beat.write_text("claimed 0 -\n", encoding="utf-8")
            os.utime(beat, (time.time() - age, time.time() - age))


@lru_cache(maxsize=8)
def open_remote(address: str) -> Remote:
    """Return the store at an address; a process has one, which remembers what it has seen of others."""
    return Remote(address)


def copies_of(address: str) -> Path:
    """Return the folder of this machine for a store, in ``UNWEAVE_CACHE`` or in the platform's cache folder."""
    root = os.environ.get("UNWEAVE_CACHE")
    base = Path(root).expanduser() if root else platformdirs.user_cache_path("unweave") / "stores"
    server = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    code = hashlib.sha256(f"{server} {address}".encode()).hexdigest()[:8]
    return base / f"{re.sub('[^A-Za-z0-9]+', '-', address)}-{code}"


def _together(objects: Objects, runs: Sequence[str]) -> dict[str, str]:
    """Return the objects of some runs, each with its mark."""
    with ThreadPoolExecutor(TOGETHER) as pool:
        return {
            path: mark for found in pool.map(objects.list, [f"{run}/" for run in runs]) for path, mark in found.items()
        }


def _state_last(path: str) -> tuple[bool, str]:
    return path.endswith(f"/{STATE}"), path


def _place(path: Path, content: bytes) -> None:
    """Write a copy of an object; it can be had again, so it is not synced to disk."""
    path.parent.mkdir(exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    aside.write_bytes(content)
    aside.replace(path)
