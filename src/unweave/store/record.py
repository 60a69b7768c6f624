"""The record of a run: what its files say, read without torch.

Lists, the tables of studies, figures, reports and the page read runs through this module. Damage is described, not
raised, so that one damaged run does not hide the others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from unweave.errors import Damaged, InputError, OtherVersion, Unavailable
from unweave.names import label_of
from unweave.store.files import is_whole, refused, writer_of
from unweave.store.folder import CONFIGURATION, STATE, read_fields, read_label
from unweave.store.measurements import Measurement, name_of_data, preferred, read_measurements, read_protocol
from unweave.store.setting_names import configuration_of, differing, used_settings_of
from unweave.store.state import read_state, status_of

LEFT_OUT = "not-applicable.json"  # metrics of a study that cannot be computed for a run
SCORING_ERROR = "scoring-error.txt"  # the traceback of a run that was trained but could not be scored
DAMAGED, OTHER = "damaged", "other version"  # states of runs that cannot be read


@dataclass(frozen=True)
class Record:
    """A run as its files describe it. What could not be read of a damaged run has its default."""

    folder: Path
    status: str = ""  # as recorded, "" if nothing was; or DAMAGED or OTHER
    step: int = 0
    seconds: float = 0.0  # spent training
    psnr: float | None = None  # dB, at the end
    error: str = ""  # of the run, or what is damaged
    measured: tuple[Measurement, ...] = ()  # with all protocols, also of snapshots and of other data
    left_out: tuple[str, ...] = ()  # metrics that cannot be computed
    scoring_failed: bool = False
    data_name: str = ""  # of the data that it was trained on, in protocols
    baseline: float | None = None  # dB, of the mean image in place of every reconstruction
    traceback: str = ""
    version: str = ""  # of Unweave and of torch
    threads: int | None = None
    fields: dict[str, Any] = field(default_factory=dict)  # the configuration as JSON
    sizes: dict[str, int] = field(default_factory=dict)  # in bytes, of the files that a finished run promises

    @property
    def name(self) -> str:
        """The name of the run, which is that of its folder."""
        return self.folder.name

    @property
    def label(self) -> str:
        """The label that the user gave to the run, "" if there is none."""
        return read_label(self.folder)

    @property
    def is_readable(self) -> bool:
        """Return whether nothing is damaged or of another version."""
        return self.status not in (DAMAGED, OTHER)

    @property
    def state(self) -> str:
        """The state of the run: its status, "stopped" if its process has died, or "not started"."""
        return status_of(self.folder, self.status)

    @property
    def scoring_error(self) -> str:
        """The error of a run that was trained but could not be scored, "" if it is not known."""
        try:
            traceback = (self.folder / SCORING_ERROR).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""
        return traceback.rpartition("\n")[2].rpartition("Error: ")[2]  # without the class of the error

    @property
    def data(self) -> str:
        """The data set as it is shown; for the user's own data, the name of its file or folder."""
        return label_of(self.fields["data"]["name"], self.fields["data"].get("source"))

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The settings that have an effect, by the names that ``--set`` takes."""
        return used_settings_of(self.fields) if self.fields and self.is_readable else {}

    @property
    def configuration(self) -> dict[str, Any]:
        """The settings, and what else the configuration says: the recipe, the seed, the steps and the data."""
        return configuration_of(self.fields) if self.fields and self.is_readable else {}

    def scores_on(self, data_name: str | None = None) -> dict[str, Measurement]:
        """Return what counts as measured, by metric, on the run's own data or on other data.

        See :mod:`unweave.store.measurements` for the rule.
        """
        name = self.data_name if data_name is None else data_name
        final = [
            found
            for found, protocol in ((found, read_protocol(found.protocol)) for found in self.measured)
            if protocol.get("step", self.step) == self.step and protocol.get("data", name) == name
        ]
        return preferred(final, lambda found: read_protocol(found.protocol))

    @property
    def scores(self) -> dict[str, float]:
        """The scores of the run by name, like ``dci.completeness``."""
        return {name: value for found in self.scores_on().values() for name, value in found.scores.items()}


def read_record(folder: Path, *, scores: bool = True) -> Record:
    """Read the files of a run; without ``scores``, those are left out, which is faster."""
    if not (folder / CONFIGURATION).exists() and not (folder / STATE).exists():
        return Record(folder)
    known: dict[str, Any] = {}
    try:
        if (state := read_state(folder)) is not None:
            names = ("status", "step", "seconds", "psnr", "error", "baseline", "traceback", "version", "threads")
            known |= {name: getattr(state, name) for name in names}
            if state.status == "finished":
                known["sizes"] = {name: int(size) for name, (size, _) in state.files.items()}
        known["fields"] = read_fields(folder)
        _check_fields(folder, known["fields"])
        known["data_name"] = name_of_data(known["fields"]["data"])
        if scores:
            known["measured"] = tuple(read_measurements(folder))
    except OtherVersion as error:
        return Record(folder, **{**known, "status": OTHER, "error": str(error)})
    except Damaged as error:
        return Record(folder, **{**known, "status": DAMAGED, "error": f"{error.reason}."})
    except (Unavailable, InputError) as error:
        return Record(folder, **{**known, "status": DAMAGED, "error": str(error)})
    return Record(folder, left_out=_left_out(folder), scoring_failed=(folder / SCORING_ERROR).exists(), **known)


def _check_fields(folder: Path, fields: Mapping[str, Any]) -> None:
    """Raise an error if fields that every table shows are missing or of a wrong type."""
    path = folder / CONFIGURATION
    try:
        for key in ("recipe", "data", "seed", "steps"):
            if key not in fields:
                raise ValueError(f"its field {key} is missing")
        if not isinstance(fields["recipe"], str):
            raise ValueError("its field recipe is not text")
        for key in ("seed", "steps"):
            if not is_whole(fields[key]):
                raise ValueError(f"its field {key} is not a whole number")
        if not isinstance(fields["data"], Mapping) or not isinstance(fields["data"].get("name"), str):
            raise ValueError("its field data is not an object with a name")
        differing([fields])
    except Exception as error:  # whatever is in a damaged file
        reason = f"({error})" if isinstance(error, ValueError) else "or was written by another version of Unweave"
        if (writer := writer_of(folder / STATE)) is not None:
            raise refused(path, writer, reason.strip("()")) from error
        raise Unavailable(f"{path} is damaged {reason}.") from error


def _left_out(folder: Path) -> tuple[str, ...]:
    """Return the metrics that cannot be computed for a run, as its worker has recorded."""
    try:
        return tuple(json.loads((folder / LEFT_OUT).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return ()
