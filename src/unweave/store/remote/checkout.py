"""The working directory of a run: the local store, or a local copy whose checkpoints and results are uploaded."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from unweave.errors import Away, Damaged, Unavailable
from unweave.store.damage import broken_promise, damaged_file, promise_of
from unweave.store.folder import CHECKPOINT, CONFIGURATION, LABEL, LOG, NAME, STATE, is_address
from unweave.store.lock import HEARTBEAT, LOCK, Busy
from unweave.store.record import SCORING_ERROR, read_record
from unweave.store.remote.address import Remote, open_remote
from unweave.store.remote.claims import SOON, RunClaim, taken_over
from unweave.store.remote.shared_index import stamp_of
from unweave.store.state import State, read_state, write_state

Files = dict[str, tuple[int, int]]  # times and sizes of the files of a run
SNAPSHOTS = "snapshot-"  # how the names of the weights of snapshots begin
SHARE = 0.03  # of the time of a run that the delivery of its checkpoints may take
SECONDS = 60.0  # between two deliveries of checkpoints
NOT_PROMISED = {STATE, CHECKPOINT, LABEL, SCORING_ERROR}
DELIVERED = ".delivered"  # ends the names of the folders from which checkpoints are delivered
LARGE = 2**28  # bytes of a file from which on it is uploaded in parts, without a condition


def _nothing() -> None:
    """Do nothing, in a store on this machine."""


@dataclass(frozen=True)
class Checkout:
    """The folder in which a run is trained, and the functions that are called meanwhile."""

    store: Path  # the folder of the run is below it
    check: Callable[[], None] = _nothing  # raises Busy once the run was taken over by another process
    saved: Callable[[], None] = _nothing  # to be called after each checkpoint, which is delivered now and then


@contextmanager
def checked_out(
    store: str, run: str, *, snapshots: bool = False, seconds: float = SECONDS, patience: float | None = None
) -> Iterator[Checkout]:
    """Yield where to look for, train and score a run: the folder of the store if it is on this machine.

    For a store at an address the run is claimed, or Busy is raised if another process has it. What the store has of it
    is copied to this machine, checkpoints are delivered while it is trained, and however the run ends, it is delivered:
    all files first, the state last. If the connection is lost, the run stays here and is delivered when a study is run
    again on this machine.

    Args:
        store: The folder or the address of the store.
        run: The name of the run.
        snapshots: Whether the snapshots of a finished run are copied; its checkpoint never is.
        seconds: The least time between two deliveries of checkpoints, 0 for none.
        patience: How long to wait for a store that is away, in seconds; as before by default.

    Yields:
        The folder, and what to call after steps and checkpoints.
    """
    if not is_address(store):
        yield Checkout(Path(store))
        return
    remote = open_remote(store)
    if patience is not None:
        remote.objects.patience = patience
    with remote.claims.taken(run) as claim:
        delivery = Delivery(remote, claim, seconds)
        delivery.prepare((CHECKPOINT,) if snapshots else (CHECKPOINT, SNAPSHOTS))
        try:
            yield Checkout(remote.work, claim.check, delivery.deliver_checkpoint)
        finally:
            delivery.deliver()


def deliver_finished(remote: Remote) -> None:
    """Deliver the finished runs that this machine could not deliver before."""
    if not remote.work.is_dir():
        return
    try:
        with FileLock(remote.work / ".deliver.lock", timeout=0):
            for folder in sorted(path for path in remote.work.iterdir() if NAME.fullmatch(path.name)):
                if _status(folder) == "finished":
                    with suppress(Busy), remote.claims.taken(folder.name) as claim:
                        Delivery(remote, claim, 0).deliver_if_missing()
    except Timeout:  # another process does it
        return


class Delivery:
    """The files of a run on this machine, and what the store has of them."""

    def __init__(self, remote: Remote, claim: RunClaim, seconds: float) -> None:
        self._remote, self._claim, self._run = remote, claim, claim.run
        self._folder = remote.work / claim.run
        self._marks: dict[str, str] = {}  # of the objects of the run
        self._sent: Files = {}  # the files that the store has
        self._promises = False  # whether the store has the run as finished
        self._seconds, self._last, self._cost = seconds, time.monotonic(), 0.0
        self._thread: threading.Thread | None = None

    def prepare(self, unscored: tuple[str, ...]) -> None:
        """Make the folder of the run as the store has it, unless this machine got further.

        Of a finished run, the files whose names begin with ``unscored`` are left out.
        """
        state = self._list()
        here = _state_in(self._folder)
        if state is None or (state.status != "finished" and here is not None and here.step > state.step):
            return
        finished = state.status == "finished"
        needed = [name for name in self._marks if not (finished and name.startswith(unscored))]
        aside = self._remote.work / f".{self._run}"
        shutil.rmtree(aside, ignore_errors=True)
        self._remote.download({f"{self._run}/{name}": self._marks[name] for name in needed}, aside)
        place = f"{self._remote.address}/{self._run}"
        if finished and (reason := broken_promise(aside / self._run, state.files, place)):
            raise Unavailable(f"{reason} To train the run again: unweave study check SPEC --repair, then study run.")
        if not finished and damaged_file(aside / self._run, finished=False):
            (aside / self._run / CHECKPOINT).unlink()  # the run starts again
        shutil.rmtree(self._folder, ignore_errors=True)
        (aside / self._run).rename(self._folder)
        shutil.rmtree(aside)
        self._sent, self._promises = _files(self._folder), finished

    def deliver_if_missing(self) -> None:
        """Deliver a finished run, or remove it from this machine if the store has it already."""
        state = None
        with suppress(Damaged):  # in the store, where the state of this run replaces it
            state = self._list()
        if state is not None and state.status == "finished":
            shutil.rmtree(self._folder, ignore_errors=True)
        else:
            self.deliver()

    def deliver(self) -> None:
        """Copy what has changed to the store; what is no longer needed here is removed."""
        if self._thread is not None:
            self._thread.join()
        self._claim.check()
        if STATE not in _files(self._folder):
            return
        self._send(self._folder)
        if _status(self._folder) in ("finished", "failed"):
            shutil.rmtree(self._folder, ignore_errors=True)

    def deliver_checkpoint(self) -> None:
        """Deliver the checkpoint that was just written, in the background, if the last one was long enough ago.

        Deliveries take at most a few per cent of the time of the run.
        """
        now = time.monotonic()
        if not self._seconds or (self._thread is not None and self._thread.is_alive()):
            return
        if now - self._last < max(self._seconds, self._cost / SHARE):
            return
        self._last = now
        aside = self._folder.with_name(f".{self._run}{DELIVERED}")
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir()
        for name in _files(self._folder):
            try:
                if name == LOG:  # which grows; the others are replaced
                    raise OSError
                os.link(self._folder / name, aside / name)
            except OSError:  # or the file system has no links
                shutil.copy2(self._folder / name, aside / name)

        def send() -> None:
            with suppress(Unavailable, OSError, Busy):  # the next one may arrive
                self._send(aside)
            shutil.rmtree(aside, ignore_errors=True)
            self._cost = time.monotonic() - now

        self._thread = threading.Thread(target=send, name="deliver a checkpoint", daemon=True)
        self._thread.start()

    def _list(self) -> State | None:
        """Look at what the store has of the run, and return its state, None if it has none."""
        there = self._remote.objects.list(f"{self._run}/")
        self._marks = {path.partition("/")[2]: mark for path, mark in there.items()}
        content = self._remote.objects.read(f"{self._run}/{STATE}") if STATE in self._marks else None
        if content is None:
            return None
        aside = self._remote.work / f".{self._run}.state"
        aside.mkdir(parents=True, exist_ok=True)
        try:
            (aside / STATE).write_bytes(content)
            return read_state(aside)
        except Damaged as error:
            reason = error.reason.replace(str(aside), f"{self._remote.address}/{self._run}")
            raise Damaged(reason, "unweave study run SPEC sets the run aside and trains it again.") from error
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def _send(self, folder: Path) -> None:
        """Copy what has changed in a folder to the store: the state last, and only while the run is ours.

        Every file replaces the one that this process knows, or nothing: a process that has slept while another one took
        the run over cannot overwrite its files.
        """
        now = _files(folder)
        changed = [name for name in now if self._sent.get(name) != now[name]]
        gone = (self._sent.keys() or self._marks.keys()) - now.keys()  # with nothing sent, an upload was cut short
        if not changed and not gone:
            return
        state = read_state(folder)
        if state is None:
            return
        if state.status == "finished":
            state = self._promised(folder, state, now, changed)
        for name in sorted(set(changed) - {STATE}, key=_order):
            self._copy(folder / name)
            self._sent[name] = now[name]
        self._confirm() if gone else self._claim.check()
        self._remote.objects.remove(f"{self._run}/{name}" for name in gone)
        self._marks = {name: mark for name, mark in self._marks.items() if name not in gone}
        self._put_state(folder, state)
        self._sent[STATE] = _files(folder)[STATE]
        with suppress(Unavailable):  # the index is a convenience
            self._remote.index.add(read_record(folder), stamp_of(self._marks))

    def _promised(self, folder: Path, state: State, now: Files, changed: list[str]) -> State:
        """Return the state of a finished run with the sizes and checksums of its files.

        The checkpoint is not among them, because a finished run does not need it, nor what users remove. If files that
        the store has promised are about to change, their promise is withdrawn first.
        """
        elsewhere = {name: promise for name, promise in state.files.items() if name in self._marks and name not in now}
        withdrawn = {name: promise for name, promise in state.files.items() if name not in changed}
        if self._promises and withdrawn != state.files:
            self._put_state(folder, replace(state, files=withdrawn))
        return replace(state, files=elsewhere | promise_of(folder, now.keys() - NOT_PROMISED))

    def _copy(self, file: Path) -> None:
        path, mark = f"{self._run}/{file.name}", ""
        self._confirm()
        if file.stat().st_size < LARGE:
            found = self._remote.objects.put(path, file.read_bytes(), expected=self._marks.get(file.name, ""))
            if found is None:
                raise taken_over(self._run)
            mark = found
        else:
            self._remote.objects.upload(file, path)
        self._marks[file.name] = mark

    def _confirm(self) -> None:
        """Raise Busy unless the run is ours, or was a moment ago."""
        self._claim.check()
        if self._claim.waited() > SOON and not self._claim.beat():
            raise taken_over(self._run)

    def _put_state(self, folder: Path, state: State) -> None:
        """Write the state, if the run is ours at this moment, and unless another process has written it since."""
        write_state(folder, state)
        content, mark = (folder / STATE).read_bytes(), None
        end = time.monotonic() + self._remote.objects.patience
        while True:
            self._confirm()
            began = time.monotonic()
            try:
                path, expected = f"{self._run}/{STATE}", self._marks.get(STATE, "")
                mark = self._remote.objects.put(path, content, expected=expected, patience=SOON)
                break
            except Away:  # the next attempt asks for the claim again, which waits for the store
                if time.monotonic() > end:
                    raise
        if mark is None:
            raise taken_over(self._run)
        self._marks[STATE] = mark
        self._claim.record("deliver", began, status=state.status, step=state.step)


def _order(name: str) -> tuple[bool, bool, str]:
    """Order files for delivery: a checkpoint must not be newer than the log that is there."""
    return name == CONFIGURATION, name == CHECKPOINT, name


def _files(folder: Path) -> Files:
    """Return the files of a run that belong into a store, with their times and sizes."""
    found = {}
    for path in folder.iterdir() if folder.is_dir() else ():
        private = path.name in (LOCK, HEARTBEAT) or path.name.startswith(".") or path.name.endswith(".lock")
        if path.is_file() and not private:
            found[path.name] = (path.stat().st_mtime_ns, path.stat().st_size)
    return found


def _state_in(folder: Path) -> State | None:
    """Return the state of a run, None if it has none that can be read."""
    try:
        return read_state(folder)
    except Unavailable:
        return None


def _status(folder: Path) -> str:
    state = _state_in(folder)
    return "" if state is None else state.status
