"""The files that the process of a run writes: its state, from which its status now is read, and its log."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, get_args

from unweave.errors import Damaged, OtherVersion, Unavailable, extra
from unweave.store.files import (
    FORMAT,
    another_writer,
    check_format,
    is_finite,
    is_whole,
    read_json,
    reason_of,
    refused,
    write_text,
)
from unweave.store.folder import DOING, STATE
from unweave.store.lock import is_beating

TAIL = 4096  # bytes of a log, enough for its last line
MOST_STEPS = 10**15  # more than this is damage
Status = Literal["running", "interrupted", "failed", "finished"]
STATES = (*get_args(Status), "stopped", "not started")  # what status_of returns


@dataclass(frozen=True)
class State:
    """The state of a run as its process recorded it."""

    status: Status
    step: int
    version: str  # of Unweave and of torch
    seconds: float = 0.0  # spent training, over all sessions
    error: str = ""  # the message of the error that ended the run
    traceback: str = ""
    diverged: bool = False  # the error would occur again if the run were repeated
    psnr: float | None = None  # dB, at the end
    baseline: float | None = None  # dB, of the mean image in place of every reconstruction
    threads: int | None = None  # CPU threads of the last session; another number changes the last bits
    time: float = 0.0  # when this was recorded, seconds since 1970
    format: int = FORMAT  # of the files of the run
    files: dict[str, list[int | str]] = field(default_factory=dict)  # size and SHA-256 of the files that it promises

    def __post_init__(self) -> None:
        """Raise a ValueError that names a field of a wrong type or value, as in a damaged file."""
        if self.status not in get_args(Status):
            raise ValueError(f"its field status is not one of {', '.join(get_args(Status))}")
        if not is_whole(self.step) or not 0 <= self.step <= MOST_STEPS:
            raise ValueError("its field step is not a whole number from 0 to 10^15")
        if self.threads is not None and not is_whole(self.threads):
            raise ValueError("its field threads is not a whole number")
        if not is_whole(self.format) or self.format < 1:
            raise ValueError("its field format is not a whole number of at least 1")
        if not isinstance(self.diverged, bool):
            raise ValueError("its field diverged is not true or false")
        for name in ("version", "error", "traceback"):
            if not isinstance(getattr(self, name), str):
                raise ValueError(f"its field {name} is not text")
        for name in ("seconds", "time", "psnr", "baseline"):
            value = getattr(self, name)
            if not is_finite(value) and not (value is None and name in ("psnr", "baseline")):
                raise ValueError(f"its field {name} is not a finite number")
        if not isinstance(self.files, dict) or not all(map(_is_promise, self.files.values())):
            raise ValueError("its field files does not have a size and a checksum of each file")
        if self.seconds < 0:
            raise ValueError("its field seconds is negative")


def _is_promise(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and is_whole(value[0]) and isinstance(value[1], str)


def write_state(folder: Path, state: State) -> None:
    """Record the state of a run."""
    write_text(folder / STATE, json.dumps({**vars(state), "time": round(time.time(), 3)}, indent=2) + "\n")


def read_state(folder: Path) -> State | None:
    """Return the state of a run, None if nothing was recorded.

    States of earlier versions are read. A state that another version wrote and this one does not understand raises an
    OtherVersion; anything else that cannot be read is damaged.
    """
    path = folder / STATE
    writer = None
    try:
        recorded = read_json(path)
        if not isinstance(recorded, dict):
            raise ValueError("it is not a JSON object")
        check_format(path, recorded)
        writer = another_writer(recorded)
        known = {each.name: each.default is MISSING and each.default_factory is MISSING for each in fields(State)}
        for name in recorded.keys() - known:
            raise ValueError(f"its field {name} is unknown")
        for name in (name for name, required in known.items() if required and name not in recorded):
            raise ValueError(f"its field {name} is missing")
        return State(**recorded)
    except FileNotFoundError:
        return None
    except OtherVersion:
        raise
    except (OSError, ValueError) as error:
        if writer is not None:
            raise refused(path, writer, reason_of(error)) from error
        raise Damaged(
            f"{path} is damaged ({reason_of(error)})", "remove it, and the run continues from its checkpoint."
        ) from error


def status_of(folder: Path, recorded: str) -> str:
    """Return what a run is doing: its recorded status, "stopped" if its process has died, or "not started"."""
    if recorded not in ("", "running"):
        return recorded
    return "running" if is_beating(folder) else "stopped" if recorded else "not started"


Hook = Callable[[int, dict[str, float]], object]  # called with the step and the values of every line of a log


class Log:
    """Append lines to a log; lines after ``step``, written before the run was stopped, are removed first.

    Args:
        path: The file.
        step: The step that training continues from.
        tensorboard: Whether the values are also written as TensorBoard events.
        hook: A function that is called with the step and the values of every line.
    """

    def __init__(self, path: Path, step: int, *, tensorboard: bool = False, hook: Hook | None = None) -> None:
        self._path, self._hook = path, hook
        kept = [line for line in read_log(path) if line["step"] <= step]
        write_text(path, "".join(f"{json.dumps(line)}\n" for line in kept))
        try:
            self._file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise Unavailable(f"cannot write {path}: {error.strerror or error}.") from error
        self._board: Any = None
        if tensorboard:
            extra("tensorboard", "tensorboard")
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(str(path.parent / "tensorboard"), purge_step=step + 1)

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Add a line."""
        try:
            self._file.write(json.dumps({"step": step, **values}) + "\n")
            self._file.flush()
        except OSError as error:
            raise Unavailable(f"cannot write {self._path}: {error.strerror or error}.") from error
        if self._board is not None:
            for name, value in values.items():
                self._board.add_scalar(name, value, step)
        if self._hook is not None:
            self._hook(step, dict(values))

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):  # a full disk, which write() has reported already
            self._file.close()
        if self._board is not None:
            self._board.close()


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a log, up to the first one that is cut off or damaged."""
    lines: list[dict[str, Any]] = []
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return lines
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror or error}.") from error
    for line in content.splitlines():
        try:
            values = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            break
        if not isinstance(values, dict) or not isinstance(values.get("step"), int):
            break
        if not all(_is_number(value) for value in values.values()):
            break
        lines.append(values)
    return lines


def last_step(path: Path) -> int:
    """Return the last step in a log, 0 if there is none; reads the end of the file only."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
            lines = [line for line in file.read().split(b"\n") if b'"step": ' in line]
        return int(lines[-1].split(b'"step": ')[1].split(b",")[0]) if lines else 0
    except (OSError, ValueError):
        return 0


def doing_of(folder: Path) -> str:
    """Return what a worker measures of a run now, as in "scoring mig", "" if it does not score."""
    try:
        return (folder / DOING).read_text(encoding="utf-8")
    except OSError:
        return ""


def _is_number(value: object) -> bool:
    """Return whether a value fits into a float, which may be NaN or infinite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True
