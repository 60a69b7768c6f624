"""Run folders that are damaged: finding them cheaply, and setting them aside so that their runs are trained again.

A folder is damaged if its state, configuration, scores or summary cannot be read, if a finished run lacks its weights
or summary, or if the weights or the checkpoint are shorter or longer than their header says. This reads the small files
and the first bytes of the large ones. Values that were changed inside a tensor are noticed by :func:`broken_promise`,
which reads everything and compares it with the sizes and checksums in the state of a finished run. Files of another
version of Unweave that cannot be read are not damaged: the store is refused.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from unweave.errors import OtherVersion, Unavailable
from unweave.store.files import checksum, read_json, write_text
from unweave.store.folder import CHECKPOINT, SUMMARY, WEIGHTS
from unweave.store.lock import locked
from unweave.store.record import DAMAGED, OTHER, Record

ASIDE, REASON = "damaged", "reason.txt"
LONGEST_HEADER = 10**8  # bytes; safetensors allows no more


def damage_of(record: Record, *, small: bool = False) -> str:
    """Return what is damaged in the folder of a run, "" if nothing is; raise OtherVersion for a run of another version.

    With ``small``, only small files are there, and the others are not looked at.
    """
    if record.status == OTHER:
        raise OtherVersion(record.error)
    if record.status == DAMAGED:
        return record.error
    return "" if small else damaged_file(record.folder, finished=record.status == "finished")


def promise_of(folder: Path, names: Iterable[str]) -> dict[str, list[int | str]]:
    """Return the sizes and checksums of files of a run, as its state keeps them."""
    return {name: [(folder / name).stat().st_size, checksum(folder / name)] for name in sorted(names)}


def broken_promise(folder: Path, files: Mapping[str, Sequence[int | str]], place: str = "") -> str:
    """Return which file is not as the state of its run promises, "" if all are; ``place`` is named for the folder.

    Files that are not there are passed over: whether a run is complete is asked by :func:`damage_of`.
    """
    for name, (size, digits) in files.items():
        path = folder / name
        if path.is_file() and (path.stat().st_size != size or checksum(path) != digits):
            return f"{place or folder}/{name} is damaged: it is not as the run has written it."
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


def damaged_file(folder: Path, *, finished: bool) -> str:
    """Return why a finished run is not complete, or which large file has not the length that it should have."""
    for name in (WEIGHTS, SUMMARY) if finished else ():
        if not (folder / name).is_file():
            return f"the run {folder} is finished, but it has no {name}."
    for name in (WEIGHTS, CHECKPOINT):
        if (folder / name).exists() and not is_whole_tensors(folder / name):
            return f"{folder / name} is damaged: it is not as long as its header says."
    if finished:
        try:
            read_json(folder / SUMMARY)
        except (OSError, ValueError) as error:
            return f"{folder / SUMMARY} is damaged ({error})."
    return ""


def is_whole_tensors(path: Path) -> bool:
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
