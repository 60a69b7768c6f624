"""Machines of their own on this one: processes in namespaces, with a name, process numbers and a cache of their own.

A process of one host cannot tell whether one of another is alive, so that claims are taken over for their silence. If
the first process of a host is killed, all others are killed with it, as if the machine were lost.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.study.history import Recorder
from unweave.store.remote import checkout, claims
from unweave.study.engines import worker
from unweave.training.loop import Session

ROOT = Path(__file__).parents[2]
NAMESPACES = ("unshare", "--pid", "--uts", "--mount-proc", "--fork", "--kill-child")
QUICK = {"INTERVAL": 0.5, "SOON": 0.2, "SILENT": 4.0, "GRACE": 1.5}  # seconds, of claims
HISTORY, STARTS = "TEST_HISTORY", "starts"
LAUNCH = """
from tests.study.hosts import prepare
prepare()  # also in workers, which import this file
from unweave.cli import main
if __name__ == "__main__":
    main()
"""


class Host:
    """A machine that runs a study."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self._folder = name, folder
        self._process: subprocess.Popen[str] | None = None

    def run(self, *words: str) -> None:
        """Start ``unweave`` with some words, in a folder that all hosts share."""
        (self._folder / "launch.py").write_text(LAUNCH)
        paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
        own = {"UNWEAVE_CACHE": str(self._folder / self.name), HISTORY: str(self._folder / "history")}
        named = ["sh", "-c", f'hostname {self.name} && exec "$@"', "sh"]
        self._process = subprocess.Popen(
            [*NAMESPACES, *named, sys.executable, "launch.py", *words],
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": paths, **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    @property
    def is_running(self) -> bool:
        """Whether the command has not ended."""
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """Lose the machine with all of its processes."""
        if self._process is not None:
            self._process.kill()
            with suppress(ValueError):  # it was waited for before
                self._process.communicate()

    def workers(self) -> list[int]:
        """Return the processes that train, by their numbers here."""
        first = _children(self._process.pid) if self._process is not None else []
        launched = [child for one in first for child in _children(one)]
        return [pid for pid in launched if "spawn_main" in _command(pid)]

    def sleep(self) -> list[int]:
        """Stop all workers, and return those that were stopped; SIGCONT wakes them."""
        stopped = self.workers()
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        return stopped

    def end(self, seconds: float) -> tuple[int, str]:
        """Wait until the command ends, and return its exit code and what it has printed."""
        assert self._process is not None
        said, _ = self._process.communicate(timeout=seconds)
        return self._process.returncode, said


class Hosts:
    """The hosts of a test, by name; they are made when they are first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._made: dict[str, Host] = {}

    def __getitem__(self, name: str) -> Host:
        return self._made.setdefault(name, Host(name, self.folder))

    def starts(self) -> dict[str, list[int]]:
        """Return the steps at which each run was begun or continued, in order."""
        found: dict[str, list[int]] = {}
        for line in (self.folder / STARTS).read_text().splitlines():
            run, step = line.split()
            found.setdefault(run, []).append(int(step))
        return found

    def end(self) -> None:
        """End what a failed test has left."""
        for host in self._made.values():
            host.kill()


def make_hosts(folder: Path) -> Iterator[Hosts]:
    """Yield the hosts of a test; skip it where namespaces cannot be made."""
    try:
        subprocess.run([*NAMESPACES, "hostname", "another"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"namespaces cannot be made here: {getattr(error, 'stderr', error)!r}")
    hosts = Hosts(folder)
    yield hosts
    hosts.end()


def prepare() -> None:
    """Let this process record its history and its starts, and let claims fall silent within seconds."""
    Recorder(path := Path(os.environ[HISTORY])).__enter__()
    for name, value in QUICK.items():
        setattr(claims, name, value)
    vars(checkout).update(SOON=QUICK["SOON"], SHARE=1.0)
    worker.LOOK = 1.0
    run = Session.run

    def noted(self: Session) -> None:
        with (path.parent / STARTS).open("a") as file:
            file.write(f"{self._configuration.name} {self.start}\n")
        run(self)

    Session.run = noted  # type: ignore[method-assign]


def _children(pid: int) -> list[int]:
    try:
        found = (path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
        return [int(child) for text in found for child in text.split()]
    except OSError:  # it has ended
        return []


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
