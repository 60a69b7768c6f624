"""The damaged runs of a study, which are set aside so that they are trained again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from unweave.errors import InputError, OtherVersion, Unavailable
from unweave.store.damage import damage_of
from unweave.store.files import refused, writer_of
from unweave.store.folder import CONFIGURATION, STATE, read_fields
from unweave.store.record import DAMAGED
from unweave.store.store import Store
from unweave.study.grid import Planned
from unweave.training.configuration import Configuration, only_code_of, read_configuration


def set_aside_damaged(store: Store, planned: Iterable[Planned]) -> dict[str, str]:
    """Set damaged runs aside and return what was damaged, by run; runs of another version are refused.

    A run is damaged too if its folder has a configuration other than the one that the folder is named after. Nothing is
    moved if any run was written by another version and cannot be read.
    """
    runs = {run.name: run.configuration for run in planned}
    found: dict[str, str] = {}
    others: list[OtherVersion] = []
    for name, record in store.records(runs).records.items():
        try:
            if record.status or record.folder.exists():
                small = store.remote is not None
                found[name] = damage_of(record, small=small) or _other_configuration(record.folder, runs[name])
        except OtherVersion as error:
            others.append(error)
    if others:
        count = f"{len(others):,} run{'s' if len(others) > 1 else ''}"
        raise OtherVersion(f"this store has {count} of another version. {others[0]}")
    return {name: reason for name, reason in found.items() if reason and store.set_aside(name, reason)}


def find_damage(
    store: Store, planned: Iterable[Planned], report: Callable[[str], None] | None = None
) -> dict[str, str]:
    """Read every file of the finished runs of a study, and return what is damaged, by run.

    Other runs are damaged if their records are. ``report`` is called with the name of each run.
    """
    found: dict[str, str] = {}
    for name, record in store.records(run.name for run in planned).records.items():
        reason = record.error if record.status == DAMAGED else store.damage_in(record) if record.status else ""
        if reason:
            found[name] = reason
        if report is not None:
            report(name)
    return found


def _other_configuration(folder: Path, expected: Configuration) -> str:
    """Return why a folder does not have the configuration that it is named after, "" if it does."""
    path = folder / CONFIGURATION
    if not path.exists():
        return ""
    try:
        if read_fields(folder) == json.loads(expected.model_dump_json()):
            return ""  # they may differ in labels and in where the data is, which are not part of the name
        with only_code_of(expected):
            name = read_configuration(folder).name
    except OtherVersion:
        raise
    except (Unavailable, InputError, ValueError) as error:
        return str(error)
    if name == folder.name:
        return ""
    reason = f"it gives the run {name}, but its folder is named {folder.name}"
    if (writer := writer_of(folder / STATE)) is not None:
        raise refused(path, writer, reason)
    return f"{path} is damaged: {reason}."
