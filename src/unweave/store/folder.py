"""The store: one folder per run, named by the hash of its configuration. Nothing here needs torch."""

from __future__ import annotations

import math
import os
import re
import shutil
from pathlib import Path
from typing import Any

from unweave.errors import InputError, Unavailable, unknown
from unweave.store.files import read_json, reason_of, write_text
from unweave.store.lock import locked
from unweave.zoo import PREFIX, zoo_store
from unweave.zoo.public import PREFIX as PUBLIC_PREFIX
from unweave.zoo.public import find_public

CONFIGURATION, STATE, LOG, SUMMARY = "configuration.json", "state.json", "log.jsonl", "summary.json"
WEIGHTS, CHECKPOINT, SCORES, LABEL = "model.safetensors", "checkpoint.safetensors", "scores.json", "label"
LATEST = "latest"  # the run of a store that was begun last
NAME = re.compile("[0-9a-f]{16}")  # the name of a run's folder
ADDRESS = re.compile("[a-z][a-z0-9+.-]+://")
HEXADECIMAL = re.compile("[0-9a-fA-F]+")
DOING = "doing.txt"  # what a worker measures now; there while it scores


def store_folder(store: str | Path | None = None) -> Path:
    """Return where runs are kept: the given folder, ``UNWEAVE_STORE``, or ``./runs``.

    A folder that neither exists nor could be made is refused.
    """
    if store is not None and not str(store).strip():
        raise InputError("the store must be a folder, got an empty name.")
    place = str(store or os.environ.get("UNWEAVE_STORE") or "runs")
    if is_address(place):
        raise InputError(f"this command needs a store in a folder; {place} can be the store of a study only.")
    folder = Path(place.removeprefix("file://")).expanduser()
    _check_place(folder)
    return folder


def _check_place(folder: Path) -> None:
    """Raise an InputError if a folder neither exists nor could be made."""
    for place in (folder, *folder.parents):
        try:
            if place.is_dir():
                return
            exists = place.exists()
        except OSError as error:  # such as a name that is too long
            raise InputError(f"the store {folder} cannot be a folder: {error.strerror or error}.") from error
        if exists:
            raise InputError(f"the store must be a folder, but {place} is a file.")


def is_address(store: str | Path) -> bool:
    """Return whether a store is at an address such as ``s3://bucket/path`` and not in a folder of this machine."""
    return bool(ADDRESS.match(str(store))) and not str(store).startswith("file://")


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

    ``zoo:LABEL`` is a model that comes with Unweave, ``public:NAME`` a public one that was fetched before, and a name
    with a path separator is a path; any other name is looked up in the store. ``latest`` is the run that was begun
    last. The full name of a run takes precedence over labels and first digits.
    """
    if name.startswith(PREFIX):
        return _in_zoo(name.removeprefix(PREFIX))
    if name.startswith(PUBLIC_PREFIX):
        return _public(name)
    if os.sep in name or "/" in name or name in (".", ".."):
        path = Path(name).expanduser()
        if (path / CONFIGURATION).is_file():
            return path
        raise InputError(f"there is no run in the folder {path}: it has no {CONFIGURATION}.")
    folders = runs_in(store)
    matches = [folder for folder in folders if folder.name == name] if name else []
    if name == LATEST and not matches and not any(read_label(folder) == name for folder in folders):
        if not folders:
            raise InputError(f"there is no run in the store {store}.")
        return folders[-1]
    if name and not matches:
        matches = [folder for folder in folders if read_label(folder) == name or folder.name.startswith(name)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(folder.name for folder in matches[:4]) + (", …" if len(matches) > 4 else "")
        raise InputError(f"{name!r} matches {len(matches)} runs of the store {store}: {names}. Give the name of one.")
    hint = f" To name a run by its folder, write ./{name}." if (Path(name) / CONFIGURATION).is_file() else ""
    raise InputError(f"there is no run {name!r} in the store {store}.{hint}")


def _in_zoo(label: str) -> Path:
    models = {read_label(folder): folder for folder in runs_in(zoo_store())}
    if label.replace("_", "-") not in models:
        raise unknown("model of the zoo", label, models)
    return models[label.replace("_", "-")]


def _public(name: str) -> Path:
    model = find_public(name)
    for folder in runs_in(model.folder):
        if read_label(folder) == model.label:
            return folder
    raise Unavailable(f"the public model {model.name} is not on this machine. Run: unweave zoo fetch {model.name}")


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


def is_complete(folder: Path) -> bool:
    """Return whether all files of a finished run are there."""
    return (folder / WEIGHTS).exists() and (folder / SUMMARY).exists()
