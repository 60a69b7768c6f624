"""A store of runs, whether it is a folder of this machine or at an address."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from unweave.errors import InputError, Unavailable
from unweave.store.damage import damaged_in, set_aside
from unweave.store.folder import STATE, is_address, store_folder
from unweave.store.index import RecordTable, read_records
from unweave.store.lock import Busy
from unweave.store.record import SCORING_ERROR
from unweave.store.remote.address import Remote, open_remote
from unweave.store.state import read_state


class Store:
    """The runs of a folder or of an address. What is read at an address are copies in a folder of this machine."""

    def __init__(self, store: str | Path | None = None) -> None:
        place = str(store or os.environ.get("UNWEAVE_STORE") or "")
        self.remote: Remote | None = open_remote(place) if is_address(place) else None
        self.folder = store_folder(store) if self.remote is None else self.remote.runs
        if self.remote is None and self.folder.is_file():
            raise InputError(f"the store must be a folder, but {self.folder} is a file.")
        self.work = self.folder if self.remote is None else self.remote.work  # where this machine trains runs
        self.address = str(self.folder) if self.remote is None else self.remote.address  # for workers

    def records(self, runs: Iterable[str]) -> RecordTable:
        """Read what the store has of runs."""
        if self.remote is not None:
            self.remote.refresh()
        return read_records(self.folder, runs)

    def fetch(self, run: str) -> Path:
        """Return the folder of a run with all its files; from an address they are copied to this machine first."""
        return self.folder / run if self.remote is None else self.remote.fetch(run)

    def make(self) -> None:
        """Make the folder of the store if it does not exist."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Unavailable(f"cannot use the store {self.folder}: {error.strerror or error}.") from error

    def forget_failure(self, run: str) -> None:
        """Let a run that has failed be trained or scored again."""
        folder = self.folder / run
        try:
            state = read_state(folder)
        except Unavailable:
            return
        files = [name for name in (SCORING_ERROR,) if (folder / name).exists()]
        if state is not None and state.status == "failed":
            files.append(STATE)
        if files and self.remote is not None:
            self.remote.forget(run, files)
        for name in files:
            (folder / name).unlink(missing_ok=True)

    def set_aside(self, run: str, reason: str) -> bool:
        """Move a damaged run below ``damaged``, unless a process is training it, and return whether it was moved."""
        try:
            if self.remote is None:
                set_aside(self.folder / run, reason)
            else:
                with self.remote.claims.taken(run):
                    self.remote.set_aside(run, reason)
        except Busy:
            return False
        return True

    def damaged(self) -> list[str]:
        """Return the names of the folders that were set aside."""
        return damaged_in(self.folder) if self.remote is None else self.remote.damaged()
