"""The runs of a study as their store has them, whether it is a folder or an address."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from unweave.errors import InputError, OtherVersion, Unavailable
from unweave.store.folder import STATE, Busy, is_address, read_state, store_folder
from unweave.study.damage import damage_of, damaged_in, set_aside
from unweave.study.grid import Planned
from unweave.study.index import Opened, open_records
from unweave.study.remote import Remote, open_remote
from unweave.study.table import SCORING_ERROR
from unweave.training import Run
from unweave.training.run import open_folder_of


class Stored:
    """The store of a study. What is read of a store at an address are copies in a folder of this machine."""

    def __init__(self, store: str | Path | None = None) -> None:
        place = str(store or os.environ.get("UNWEAVE_STORE") or "")
        self.remote: Remote | None = open_remote(place) if is_address(place) else None
        self.folder = store_folder(store) if self.remote is None else self.remote.runs
        if self.remote is None and self.folder.is_file():
            raise InputError(f"the store must be a folder, but {self.folder} is a file.")
        self.training = self.folder if self.remote is None else self.remote.work  # where this machine trains runs
        self.address = str(self.folder) if self.remote is None else self.remote.address  # for workers

    def records(self, runs: Iterable[str]) -> Opened:
        """Read what the store has of runs."""
        if self.remote is not None:
            self.remote.refresh()
        return open_records(self.folder, runs)

    def open(self, planned: Planned) -> Run:
        """Open a run of a study; from a store at an address it is copied to this machine first."""
        folder = self.folder / planned.name if self.remote is None else self.remote.fetch(planned.name)
        return open_folder_of(planned.configuration, folder)

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

    def set_aside_damaged(self, planned: Iterable[Planned]) -> dict[str, str]:
        """Set damaged runs aside and return what was damaged, by run; runs of another version are refused.

        Nothing is moved if any run was written by another version and cannot be read.
        """
        runs = {run.name: run.configuration for run in planned}
        opened = self.records(runs)
        found: dict[str, str] = {}
        others: list[OtherVersion] = []
        for name, configuration in runs.items():
            record, folder = opened.records[name], self.folder / name
            try:
                if record.status or folder.exists():
                    found[name] = damage_of(folder, record, configuration, small=self.remote is not None)
            except OtherVersion as error:
                others.append(error)
        if others:
            count = f"{len(others):,} run{'s' if len(others) > 1 else ''}"
            raise OtherVersion(f"this store has {count} of another version. {others[0]}")
        return {name: reason for name, reason in found.items() if reason and self._set_aside(name, reason)}

    def _set_aside(self, run: str, reason: str) -> bool:
        """Set a run aside, unless a process is training it, and return whether it was."""
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
