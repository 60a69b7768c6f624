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
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import platformdirs
from filelock import FileLock

from unweave.errors import Unavailable
from unweave.store.damage import ASIDE, REASON
from unweave.store.files import write_text
from unweave.store.folder import CONFIGURATION, LABEL, NAME, SCORES, STATE
from unweave.store.lock import HEARTBEAT
from unweave.store.record import LEFT_OUT, SCORING_ERROR
from unweave.store.remote.claims import Claims, owners
from unweave.store.remote.objects import Objects

SMALL = (CONFIGURATION, SCORES, LEFT_OUT, SCORING_ERROR, LABEL, STATE)  # what a table needs
KNOWN = "known.json"  # what the objects were when they were copied to ``runs``


class Remote:
    """A store at an address."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self.objects = Objects(self.address)
        self.claims = Claims(self.objects)
        self.folder = copies_of(self.address)
        self.runs, self.work = self.folder / "runs", self.folder / "work"

    def refresh(self) -> None:
        """Bring ``runs`` up to date: the small files of all runs of the store, and who trains which run."""
        there = self.objects.list()
        names = {path.partition("/")[0] for path in there if path.endswith(f"/{STATE}") and path.count("/") == 1}
        wanted = {
            path: mark
            for path, mark in there.items()
            if path.partition("/")[0] in names and path.partition("/")[2] in SMALL and NAME.match(path)
        }
        self.runs.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / "refresh.lock"):
            known = {path: mark for path, mark in self._known().items() if there.get(path) == mark}
            for folder in [path for path in self.runs.iterdir() if path.is_dir()]:
                if folder.name not in names:
                    shutil.rmtree(folder)
                    continue
                for file in folder.iterdir():
                    if f"{folder.name}/{file.name}" not in there:  # removed in the store, or private
                        file.unlink()
            new = [path for path, mark in wanted.items() if known.get(path) != mark or not (self.runs / path).exists()]
            contents = self.objects.read_all(new)
            for path in sorted(contents, key=_state_last):
                _place(self.runs / path, contents[path])
                known[path] = wanted[path]
            self._remember(known)
            self._show_owners()

    def fetch(self, run: str) -> Path:
        """Copy all files of a run to ``runs`` and return its folder."""
        with FileLock(self.folder / "refresh.lock"):
            known = self._known()
            there = self.objects.list(f"{run}/")
            if f"{run}/{STATE}" not in there:
                raise Unavailable(f"the store {self.address} has no run {run}.")
            self.download(there, self.runs, known)
            self._remember({**known, **there})
        return self.runs / run

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

    def set_aside(self, run: str, reason: str) -> str:
        """Move the objects of a run below ``damaged`` and return where they are now."""
        taken = {path.split("/")[1] for path in self.objects.list(f"{ASIDE}/{run}-")}
        place = next(f"{ASIDE}/{run}-{n}" for n in range(1, 10**6) if f"{run}-{n}" not in taken)
        for path in sorted(self.objects.list(f"{run}/"), key=_state_last, reverse=True):  # no run from now on
            self.objects.move(path, path.replace(run, place, 1))
        self.objects.write(f"{place}/{REASON}", f"{reason}\n".encode())
        for folder in (self.runs / run, self.work / run):
            shutil.rmtree(folder, ignore_errors=True)
        return f"{self.address}/{place}"

    def damaged(self) -> list[str]:
        """Return the names of the folders that were set aside."""
        return sorted({path.split("/")[1] for path in self.objects.list(f"{ASIDE}/")})

    def _known(self) -> dict[str, str]:
        try:
            found = json.loads((self.folder / KNOWN).read_text(encoding="utf-8"))
            return found if isinstance(found, dict) else {}
        except (OSError, ValueError):
            return {}

    def _remember(self, known: Mapping[str, str]) -> None:
        write_text(self.folder / KNOWN, json.dumps(known))

    def _show_owners(self) -> None:
        """Write a heartbeat into the folder of each run that is being trained, dated as its claim is."""
        for run, owner in owners(self.objects).items():
            (self.runs / run).mkdir(exist_ok=True)
            beat = self.runs / run / HEARTBEAT
            beat.write_text(f"{owner.line}\n", encoding="utf-8")
            changed = self.objects.changed(owner.path)
            os.utime(beat, (changed, changed))


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


def _state_last(path: str) -> tuple[bool, str]:
    return path.endswith(f"/{STATE}"), path


def _place(path: Path, content: bytes) -> None:
    """Write a copy of an object; it can be had again, so it is not synced to disk."""
    path.parent.mkdir(exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    aside.write_bytes(content)
    aside.replace(path)
