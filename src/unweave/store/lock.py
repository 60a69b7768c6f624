"""The lock of a run, which one process at a time holds, and its heartbeat, which shows that it is being trained."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from filelock import FileLock, Timeout

from unweave.errors import InputError, Unavailable

LOCK, HEARTBEAT = "lock", "heartbeat"
INTERVAL = 5.0  # seconds between two beats
SILENT = 60.0  # seconds without a beat after which a process on another machine counts as dead


class Busy(InputError):
    """A run is being trained by another process."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a run: only one process at a time trains or removes it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK, timeout=0).acquire()
    except Timeout as error:
        raise Busy(f"the run {folder} is being trained by another process.") from error
    except OSError as error:
        raise Unavailable(f"cannot use the folder {folder}: {error.strerror or error}.") from error
    except NotImplementedError as error:
        raise Unavailable(f"cannot use the folder {folder}: its file system has no file locks.") from error
    with lock:
        if is_beating(folder, _clock(folder / LOCK)):  # on another machine, where this lock may not reach
            raise Busy(f"the run {folder} is being trained by another process, on another machine.")
        yield


def _clock(path: Path) -> float | None:
    """Return the present time of a file system, which may differ from that of this machine."""
    try:
        os.utime(path)
        return path.stat().st_mtime
    except OSError:
        return None


@contextmanager
def beating(folder: Path) -> Iterator[None]:
    """Write the process that trains a run to a file in its folder, and touch the file from a background thread."""
    path = folder / HEARTBEAT
    path.write_text(f"{machine()} {os.getpid()} {started_of(os.getpid())}\n", encoding="utf-8")
    done = threading.Event()

    def beat() -> None:
        while not done.wait(INTERVAL):
            with contextlib.suppress(OSError):
                os.utime(path)

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        path.unlink(missing_ok=True)


def is_beating(folder: Path, now: float | None = None) -> bool:
    """Return whether a process is training a run; reads one small file and takes no lock.

    A process of this machine is looked up. One of another machine is alive if it has touched the file in the last
    minute; ``now`` is the present time of the file system, by default that of this machine.
    """
    path = folder / HEARTBEAT
    try:
        host, pid, started = path.read_text(encoding="utf-8").split()
        age = (time.time() if now is None else now) - path.stat().st_mtime
    except (OSError, ValueError):
        return False
    if host == machine() and pid.isdigit():
        return is_alive(int(pid), started)
    return age < SILENT


def trainer_of(folder: Path) -> tuple[str, int] | None:
    """Return the machine, see :func:`machine`, and the process that last trained a run, None if that is not known."""
    try:
        host, pid, _ = (folder / HEARTBEAT).read_text(encoding="utf-8").split()
        return host, int(pid)
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=1)
def machine() -> str:
    """Return what identifies this machine: its name, its boot and its process namespace, without spaces."""
    boot, namespace = "", ""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8]
        namespace = os.readlink("/proc/self/ns/pid").strip("pid:[]")  # noqa: PTH115  not the path of a file
    return "/".join(part for part in ("".join(socket.gethostname().split()), boot, namespace) if part)


def is_alive(pid: int, started: str) -> bool:
    """Return whether the process of this machine that was started at this time still exists."""
    return started_of(pid) == started


def started_of(pid: int) -> str:
    """Return when a process on this machine was started, "-" if that is not known, "" if there is no such process."""
    try:
        # the 22nd field of the line; the second one is a name in brackets, which may have spaces
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        return "-"
    return "-"
