"""The store: one folder per run, named by the hash of its configuration. Nothing here needs torch."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from filelock import FileLock, Timeout

from unweave.errors import Damaged, InputError, OtherVersion, Unavailable
from unweave.store.atomic import write_text
from unweave.store.formats import FORMAT, another_writer, check_format, refused
from unweave.store.formats import versions as versions
from unweave.store.heartbeat import is_beating
from unweave.store.json_files import is_finite, is_whole, read_json, reason_of

CONFIGURATION, STATE, LOG, SUMMARY = "configuration.json", "state.json", "log.jsonl", "summary.json"
WEIGHTS, CHECKPOINT, LOCK, LABEL = "model.safetensors", "checkpoint.safetensors", "lock", "label"
SCORES = "scores.json"
NAME = re.compile("[0-9a-f]{16}")  # the name of a run's folder
ADDRESS = re.compile("[a-z][a-z0-9+.-]+://")
HEXADECIMAL = re.compile("[0-9a-fA-F]+")
MOST_STEPS = 10**15  # more than this is damage
Status = Literal["running", "interrupted", "failed", "finished"]
STATES = (*get_args(Status), "stopped", "not started")  # what status_of returns


def store_folder(store: str | Path | None = None) -> Path:
    """Return where runs are kept: the given folder, ``UNWEAVE_STORE``, or ``./runs``."""
    if store is not None and not str(store).strip():
        raise InputError("the store must be a folder, got an empty name.")
    place = str(store or os.environ.get("UNWEAVE_STORE") or "runs")
    if is_address(place):
        raise InputError(f"this command needs a store in a folder; {place} can be the store of a study only.")
    return Path(place.removeprefix("file://")).expanduser()


def is_address(store: str | Path) -> bool:
    """Return whether a store is at an address such as ``s3://bucket/path`` and not in a folder of this machine."""
    return bool(ADDRESS.match(str(store))) and not str(store).startswith("file://")


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
        if self.seconds < 0:
            raise ValueError("its field seconds is negative")


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
        known = {field.name: field.default is MISSING for field in fields(State)}
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


def status_of(folder: Path, state: State | None) -> str:
    """Return what a run is doing: its recorded status, "stopped" if its process has died, or "not started"."""
    if state is None:
        return "running" if is_beating(folder) else "not started"
    if state.status == "running" and not is_beating(folder):
        return "stopped"
    return state.status


def read_fields(folder: Path) -> dict[str, Any]:
    """Return the configuration of a run, or in a file, as plain JSON, without checking that its parts exist here."""
    path = folder if folder.is_file() else folder / CONFIGURATION
    if not path.is_file():
        raise InputError(f"{folder} is not a run: it has no {CONFIGURATION}.")
    try:
        found = read_json(path)
        if not isinstance(found, dict):
            raise ValueError("it is not a JSON object")
    except (OSError, ValueError) as error:
        raise Unavailable(f"{path} is damaged ({reason_of(error)}).") from error
    return found


def runs_in(store: Path) -> list[Path]:
    """Return the folders of all runs of a store, oldest first."""
    if not store.is_dir():
        return []
    return sorted((path.parent for path in store.glob(f"*/{CONFIGURATION}")), key=_age)


def _age(folder: Path) -> tuple[float, str]:
    try:
        return (folder / CONFIGURATION).stat().st_mtime, folder.name
    except OSError:  # it was removed in the meantime
        return math.inf, folder.name


def existing_store(store: str | Path | None = None) -> Path:
    """Return the folder of a store that must exist if it was named explicitly."""
    folder = store_folder(store)
    if (store is not None or os.environ.get("UNWEAVE_STORE")) and not folder.is_dir():
        raise InputError(f"there is no store {folder}: it is created by the first run that is trained there.")
    return folder


def find_run(name: str, store: Path) -> Path:
    """Return the folder of a run, given its path, its name or label in the store, or the first digits of its name.

    A name with a path separator is a path; any other name is looked up in the store. The full name of a run takes
    precedence over labels and first digits.
    """
    if os.sep in name or "/" in name or name in (".", ".."):
        path = Path(name).expanduser()
        if (path / CONFIGURATION).is_file():
            return path
        raise InputError(f"there is no run in the folder {path}: it has no {CONFIGURATION}.")
    folders = runs_in(store)
    matches = [folder for folder in folders if folder.name == name] if name else []
    if name and not matches:
        matches = [folder for folder in folders if read_label(folder) == name or folder.name.startswith(name)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(folder.name for folder in matches[:4]) + (", …" if len(matches) > 4 else "")
        raise InputError(f"{name!r} matches {len(matches)} runs of the store {store}: {names}. Give the name of one.")
    hint = f" To name a run by its folder, write ./{name}." if (Path(name) / CONFIGURATION).is_file() else ""
    raise InputError(f"there is no run {name!r} in the store {store}.{hint}")


def read_label(folder: Path) -> str:
    """Return the label that the user gave to a run, "" if there is none."""
    try:
        return (folder / LABEL).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def check_label(label: object, store: Path | None = None, run: str = "") -> str:
    """Return a label without surrounding spaces, or raise an InputError if it cannot be used; "" means no label.

    A label must not be mistaken for a path or for the name of a run. If a store is given, no other run of it than
    ``run`` may have the label.
    """
    if not isinstance(label, str):
        raise InputError(f"a label must be a string, got {label!r}.")
    text = label.strip()
    if label and not text:
        raise InputError("a label must not be blank: give a word, or '' to remove the label.")
    if text in (".", "..") or "/" in text or "\\" in text or not text.isprintable():
        raise InputError(f"a label must be one line and must not look like a path, got {label!r}.")
    if HEXADECIMAL.fullmatch(text):
        raise InputError(f"a label of the digits 0-9 and a-f only looks like the name of a run: change {label!r}.")
    for folder in runs_in(store) if text and store is not None else []:
        if folder.name != run and read_label(folder) == text:
            raise InputError(f"the run {folder.name} of this store already has the label {text!r}: choose another.")
    return text


def write_label(folder: Path, label: str) -> None:
    """Give a run a label; "" removes it."""
    text = check_label(label, folder.parent, folder.name)
    if text:
        write_text(folder / LABEL, f"{text}\n")
        return
    try:
        (folder / LABEL).unlink(missing_ok=True)
    except OSError as error:
        raise Unavailable(f"cannot remove {folder / LABEL}: {error.strerror or error}.") from error


def remove_run(folder: Path) -> None:
    """Delete the folder of a run, its configuration first, so that a half-deleted folder is not taken for a run.

    Folders that are not named like a run, and runs that are being trained, are refused. A symbolic link is removed
    without touching what it points to.
    """
    if not NAME.fullmatch(folder.name if folder.is_symlink() else folder.resolve().name):
        raise InputError(f"{folder} is not named like a run, so it is not removed.")
    if folder.is_symlink():
        folder.unlink()
        return
    with locked(folder):
        for name in (CONFIGURATION, STATE):
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(folder)


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


def is_complete(folder: Path) -> bool:
    """Return whether all files of a finished run are there."""
    return (folder / WEIGHTS).exists() and (folder / SUMMARY).exists()
