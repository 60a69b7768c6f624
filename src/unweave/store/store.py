"""A store of runs, whether it is a folder of this machine or at an address."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from unweave.errors import Unavailable
from unweave.store.damage import broken_promise, damage_of, damaged_in, set_aside
from unweave.store.folder import STATE, is_address, store_folder
from unweave.store.index import RecordTable, read_records
from unweave.store.lock import Busy
from unweave.store.record import SCORING_ERROR, Record
from unweave.store.remote.address import Remote, open_remote
from unweave.store.remote.checkout import deliver_finished
from unweave.store.state import read_state


class Store:
    """The runs of a folder or of an address. What is read at an address are copies in a folder of this machine."""

    def __init__(self, store: str | Path | None = None) -> None:
        place = str(store or os.environ.get("UNWEAVE_STORE") or "")
        self.remote: Remote | None = open_remote(place) if is_address(place) else None
        self.folder = store_folder(store) if self.remote is None else self.remote.runs
        self.work = self.folder if self.remote is None else self.remote.work  # where this machine trains runs
        self.address = str(self.folder) if self.remote is None else self.remote.address  # for workers

    def records(self, runs: Iterable[str]) -> RecordTable:
        """Read what the store has of runs."""
        return read_records(self.folder, runs) if self.remote is None else self.remote.records(runs)

    @contextmanager
    def one_listing(self) -> Iterator[None]:
        """List a store at an address once for everything that is read in this block."""
        with nullcontext() if self.remote is None else self.remote.one_listing():
            yield

    def list_again(self) -> None:
        """Let what is read next in a block of one listing come from a new one."""
        if self.remote is not None:
            self.remote.list_again()

    def damage_in(self, record: Record) -> str:
        """Read every file of a finished run, and return what is damaged, "" if nothing is."""
        if self.remote is not None:
            return self.remote.damage_of(record.name)
        state = read_state(record.folder)
        return damage_of(record) or broken_promise(record.folder, {} if state is None else state.files)

    def copy(self, runs: Iterable[str]) -> None:
        """Copy the small files of runs of a store at an address to ``folder``."""
        if self.remote is not None:
            self.remote.copy(runs)

    def begin(self, patience: float | None) -> None:
        """Prepare a store at an address for a study: wait for it if it is away, and deliver what was left here."""
        if self.remote is not None:
            self.remote.objects.patience = self.remote.objects.patience if patience is None else patience
            deliver_finished(self.remote)

    def compact(self) -> None:
        """Join the small objects of the index of a store at an address."""
        if self.remote is not None:
            with suppress(Unavailable):  # it is a convenience
                self.remote.index.compact()

    def end(self, finished: Collection[str]) -> None:
        """Put a store at an address in order after a study: its index, and claims that were left on finished runs."""
        self.compact()
        if self.remote is not None:
            with suppress(Unavailable):
                self.remote.remove_claims(finished)

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
