"""Run folders that are damaged: finding them cheaply, and setting them aside so that their runs are trained again.

A folder is damaged if its state, configuration, scores or summary cannot be read, if its configuration is not the one
that it is named after, if a finished run lacks its weights or summary, or if the weights or the checkpoint are shorter
or longer than their header says. This reads the small files and the first bytes of the large ones; values that were
changed inside a tensor are not noticed. Files of another version of Unweave that cannot be read are not damaged: the
store is refused.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

from unweave.errors import InputError, OtherVersion, Unavailable
from unweave.store.atomic import write_text
from unweave.store.folder import CHECKPOINT, CONFIGURATION, STATE, SUMMARY, WEIGHTS, locked, read_fields
from unweave.store.formats import refused, writer_of
from unweave.store.json_files import read_json
from unweave.study.table import DAMAGED, OTHER, Record
from unweave.training.configuration import Configuration, only_code_of, read_configuration

ASIDE, REASON = "damaged", "reason.txt"
LONGEST_HEADER = 10**8  # bytes; safetensors allows no more


def damage_of(folder: Path, record: Record, configuration: Configuration, *, small: bool = False) -> str:
    """Return what is damaged in the folder of a run, "" if nothing is; raise OtherVersion for a run of another version.

    With ``small``, only small files are there, and the others are not looked at.
    """
    if record.status == OTHER:
        raise OtherVersion(record.error)
    if record.status == DAMAGED:
        return record.error
    try:
        if (folder / CONFIGURATION).exists():
            _check_configuration(folder, configuration)
        if not small:
            _check_files(folder, finished=record.status == "finished")
    except OtherVersion:
        raise
    except (Unavailable, InputError, ValueError) as error:
        return str(error)
    return ""


def set_aside(folder: Path, reason: str) -> Path:
    """Move the folder of a run to ``damaged`` in its store, with the reason in a text file, and return where it is."""
    aside = folder.parent / ASIDE
    with locked(folder):  # not while a process trains it
        try:
            aside.mkdir(exist_ok=True)
            place = next(path for path in (aside / f"{folder.name}-{n}" for n in range(1, 10**6)) if not path.exists())
            folder.rename(place)
        except OSError as error:
            raise Unavailable(f"cannot set the damaged run {folder} aside: {error.strerror or error}.") from error
    write_text(place / REASON, f"{reason}\n")
    return place


def damaged_in(store: Path) -> list[str]:
    """Return the names of the folders of a store that were set aside."""
    return sorted(path.name for path in (store / ASIDE).iterdir()) if (store / ASIDE).is_dir() else []


def _check_configuration(folder: Path, expected: Configuration) -> None:
    """Raise an error if a folder does not have the configuration that it is named after."""
    if read_fields(folder) == json.loads(expected.model_dump_json()):
        return  # they may differ in labels and in where the data is, which are not part of the name
    with only_code_of(expected):
        name = read_configuration(folder).name
    if name != folder.name:
        reason = f"it gives the run {name}, but its folder is named {folder.name}"
        if (writer := writer_of(folder / STATE)) is not None:
            raise refused(folder / CONFIGURATION, writer, reason)
        raise Unavailable(f"{folder / CONFIGURATION} is damaged: {reason}.")


def _check_files(folder: Path, *, finished: bool) -> None:
    """Raise an error if a finished run is not complete, or if a large file has not the length that it should have."""
    for name in (WEIGHTS, SUMMARY) if finished else ():
        if not (folder / name).is_file():
            raise Unavailable(f"the run {folder} is finished, but it has no {name}.")
    for name in (WEIGHTS, CHECKPOINT):
        if (folder / name).exists() and not _is_whole(folder / name):
            raise Unavailable(f"{folder / name} is damaged: it is not as long as its header says.")
    if finished:
        try:
            read_json(folder / SUMMARY)
        except (OSError, ValueError) as error:
            raise Unavailable(f"{folder / SUMMARY} is damaged ({error}).") from error


def _is_whole(path: Path) -> bool:
    """Return whether a safetensors file has the length that its header states."""
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            if length > LONGEST_HEADER:
                return False
            header = json.loads(file.read(length))
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
        return bool(path.stat().st_size == 8 + length + max(ends, default=0))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, struct.error):
        return False
