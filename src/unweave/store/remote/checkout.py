"""The working directory of a run: the local store, or a local copy that is uploaded when the run ends."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unweave.errors import Unavailable
from unweave.store.folder import CHECKPOINT, CONFIGURATION, STATE, is_address
from unweave.store.lock import HEARTBEAT, LOCK, Busy
from unweave.store.remote.address import Remote, open_remote
from unweave.store.remote.claims import Claim
from unweave.store.state import read_state

Files = dict[str, tuple[int, int]]  # sizes and times of the files of a run
SNAPSHOTS = "snapshot-"  # how the names of the weights of snapshots begin


@contextmanager
def checked_out(store: str, run: str, *, snapshots: bool = False) -> Iterator[Path]:
    """Yield the folder in which to look for, train and score a run: that of the store if it is on this machine.

    For a store at an address the run is claimed, or Busy is raised if another process has it. What the store has of it
    is copied to this machine, and however the run ends, it is delivered: all files first, the state last. If the
    connection is lost, the run stays here and is delivered when the study is run again. Of a finished run, the
    checkpoint is not copied, and ``snapshots`` only if they are to be scored.
    """
    if not is_address(store):
        yield Path(store)
        return
    remote = open_remote(store)
    with remote.claims.taken(run) as claim:
        before = _prepare(remote, run, (CHECKPOINT,) if snapshots else (CHECKPOINT, SNAPSHOTS))
        try:
            yield remote.work
        finally:
            _deliver(remote, run, before, claim)


def _prepare(remote: Remote, run: str, unscored: tuple[str, ...]) -> Files:
    """Make the folder of a run as the store has it, unless this machine got further, and return the store's files.

    Of a finished run, the files whose names begin with ``unscored`` are left out.
    """
    folder = remote.work / run
    there = remote.objects.list(f"{run}/")
    if f"{run}/{STATE}" not in there:
        return {}
    aside = remote.work / f".{run}"
    shutil.rmtree(aside, ignore_errors=True)
    remote.download({f"{run}/{STATE}": there[f"{run}/{STATE}"]}, aside)
    state = read_state(aside / run)
    if state is not None and state.status != "finished" and _step(folder) > state.step:
        shutil.rmtree(aside)
        return {path.partition("/")[2]: (-1, -1) for path in there}
    scored_only = state is not None and state.status == "finished"
    needed = [path for path in there if not (scored_only and path.partition("/")[2].startswith(unscored))]
    remote.download({path: there[path] for path in needed}, aside)
    shutil.rmtree(folder, ignore_errors=True)
    (aside / run).rename(folder)
    shutil.rmtree(aside)
    return _files(folder)


def _deliver(remote: Remote, run: str, before: Files, claim: Claim) -> None:
    """Copy what has changed to the store; what is no longer needed here is removed."""
    folder = remote.work / run
    now = _files(folder)
    changed = [name for name in now if before.get(name) != now[name]]
    if STATE not in now:
        return
    if not claim.is_held():
        raise Busy(f"the run {run} was taken over by another process, because this one was silent for too long.")
    if changed or before.keys() - now.keys():
        there = {path.partition("/")[2] for path in remote.objects.list(f"{run}/")}
        for name in sorted(changed, key=lambda name: (name == CONFIGURATION, name)):
            if name != STATE:
                remote.objects.upload(folder / name, f"{run}/{name}")
        gone = (before.keys() if before else there) - now.keys()  # with nothing before, an upload was cut short
        remote.objects.remove(f"{run}/{name}" for name in gone)
        if not claim.is_held():
            raise Busy(f"the run {run} was taken over by another process, because this one was silent for too long.")
        remote.objects.upload(folder / STATE, f"{run}/{STATE}")
    if _status(folder) in ("finished", "failed"):
        shutil.rmtree(folder, ignore_errors=True)


def _files(folder: Path) -> Files:
    """Return the files of a run that belong into a store, with their sizes and times."""
    found = {}
    for path in folder.iterdir() if folder.is_dir() else ():
        private = path.name in (LOCK, HEARTBEAT) or path.name.startswith(".") or path.name.endswith(".lock")
        if path.is_file() and not private:
            found[path.name] = (path.stat().st_mtime_ns, path.stat().st_size)
    return found


def _step(folder: Path) -> int:
    try:
        state = read_state(folder)
    except Unavailable:
        return -1
    return -1 if state is None else state.step


def _status(folder: Path) -> str:
    state = read_state(folder)
    return "" if state is None else state.status
