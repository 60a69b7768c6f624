"""The store: one folder a run, named by the hash of its configuration, and what is known of each."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from filelock import FileLock, Timeout

from unweave.errors import InputError, Unavailable
from unweave.training.configuration import Configuration
from unweave.training.writing import write_text

CONFIGURATION, STATE, LOG, SUMMARY = "configuration.json", "state.json", "log.jsonl", "summary.json"
WEIGHTS, CHECKPOINT, LOCK = "model.safetensors", "checkpoint.safetensors", "lock"
NAME = re.compile("[0-9a-f]{16}")  # of a run's folder
Status = Literal["running", "interrupted", "failed", "finished"]


def store_folder(store: str | Path | None = None) -> Path:
    """Where runs are kept: as given, or ``UNWEAVE_STORE``, or ``./runs``."""
    return Path(store or os.environ.get("UNWEAVE_STORE") or "runs").expanduser()


@dataclass(frozen=True)
class State:
    """How far a run has come."""

    status: Status
    step: int
    version: str  # of Unweave, and of torch
    seconds: float = 0.0  # spent training, all sessions together
    error: str = ""
    psnr: float | None = None  # at the end, dB


def versions() -> str:
    """The versions of the code that a run was made by."""
    return f"unweave {version('unweave')}, torch {torch.__version__}"


def write_state(folder: Path, state: State) -> None:
    """Record how far a run has come."""
    write_text(folder / STATE, json.dumps(vars(state), indent=2) + "\n")


def read_state(folder: Path) -> State | None:
    """How far a run has come, None where nothing was recorded."""
    try:
        state = State(**json.loads((folder / STATE).read_text(encoding="utf-8")))
        if state.status not in get_args(Status) or not isinstance(state.step, int):
            raise ValueError(f"{state} is no state")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        what = f"{folder / STATE} is damaged ({error}): remove it, and the run goes on from its checkpoint."
        raise Unavailable(what) from error
    return state


def write_configuration(folder: Path, configuration: Configuration) -> None:
    """Record what a run is; a folder that holds another one is refused."""
    path = folder / CONFIGURATION
    if path.exists():
        if read_configuration(folder).name != configuration.name:
            raise InputError(f"{folder} holds another configuration than the one that it is named after.")
        return
    write_text(path, json.dumps(configuration.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n")


def read_configuration(folder: Path) -> Configuration:
    """What a run is."""
    path = folder / CONFIGURATION
    if not path.is_file():
        raise InputError(f"{folder} is not a run: it has no {CONFIGURATION}.")
    try:
        fields: Any = json.loads(path.read_text(encoding="utf-8"))
        return Configuration(**fields)
    except (OSError, ValueError, TypeError) as error:
        raise Unavailable(f"{path} is damaged, or of another version of Unweave: {error}") from error


def runs_in(store: Path) -> list[Path]:
    """The folders of all runs of a store, oldest first."""
    if not store.is_dir():
        return []
    found = [path.parent for path in store.glob(f"*/{CONFIGURATION}")]
    return sorted(found, key=lambda folder: ((folder / CONFIGURATION).stat().st_mtime, folder.name))


def find_run(name: str, store: Path) -> Path:
    """The folder of a run: by its path, or by its name in the store, or enough first digits of it."""
    if (Path(name) / CONFIGURATION).is_file():
        return Path(name)
    matches = [folder for folder in runs_in(store) if folder.name.startswith(name)] if name else []
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise InputError(f"{name!r} begins the names of {len(matches)} runs of {store}: give more digits.")
    raise InputError(f"there is no run {name!r}, neither as a folder nor in the store {store}.")


def remove_run(folder: Path) -> None:
    """Delete a run's folder, its state first, so that what is left half-deleted is not taken for a run.

    A folder that is not named like a run is left alone, and so is a run that is under way.
    """
    if not NAME.fullmatch(folder.resolve().name):
        raise InputError(f"{folder} is not named like a run, and is not removed.")
    with held(folder):
        for name in (CONFIGURATION, STATE):
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(folder)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """While this process has a run, no other one does."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK, timeout=0).acquire()
    except Timeout as error:
        raise InputError(f"the run {folder} is being trained by another process.") from error
    except OSError as error:
        raise Unavailable(f"cannot keep the run {folder}: {error.strerror or error}.") from error
    with lock:
        yield


def is_held(folder: Path) -> bool:
    """Whether a process is training a run now."""
    if not (folder / LOCK).exists():
        return False
    try:
        FileLock(folder / LOCK, timeout=0).acquire().lock.release()
    except (Timeout, OSError):
        return True
    return False


def is_whole(folder: Path) -> bool:
    """Whether all that a finished run has is there."""
    return (folder / WEIGHTS).exists() and (folder / SUMMARY).exists()


def remove_leftovers(folder: Path) -> None:
    """Delete what writing left behind when its process was killed."""
    for pattern in (".*.partial", ".tmp*"):
        for path in folder.glob(pattern):
            path.unlink(missing_ok=True)
