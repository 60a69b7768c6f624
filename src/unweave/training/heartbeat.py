"""The heartbeat of a running process, which shows that a run is being trained without taking its lock."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HEARTBEAT = "heartbeat"
INTERVAL = 5.0  # seconds between two beats
SILENT = 60.0  # seconds without a beat after which a process on another machine counts as dead


@contextmanager
def beating(folder: Path) -> Iterator[None]:
    """Write the process that trains a run to a file in its folder, and touch the file from a background thread."""
    path = folder / HEARTBEAT
    path.write_text(f"{socket.gethostname()} {os.getpid()} {_started(os.getpid())}\n", encoding="utf-8")
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


def is_beating(folder: Path) -> bool:
    """Return whether a process is training a run; reads one small file and takes no lock."""
    path = folder / HEARTBEAT
    try:
        host, pid, started = path.read_text(encoding="utf-8").split()
        age = time.time() - path.stat().st_mtime
    except (OSError, ValueError):
        return False
    if host == socket.gethostname() and pid.isdigit():
        return _started(int(pid)) == started
    return age < SILENT


def _started(pid: int) -> str:
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
