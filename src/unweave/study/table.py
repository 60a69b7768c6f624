"""The rows of a study's table: what the store says of each run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from unweave.errors import Damaged, InputError, OtherVersion, Unavailable
from unweave.metrics import METRICS, Scores
from unweave.plain_json import to_plain
from unweave.store.folder import SCORES, read_fields, read_state
from unweave.store.formats import another_writer, refused
from unweave.store.heartbeat import is_beating
from unweave.store.scores import Entry, StoredScores, read_scores
from unweave.study.snapshots import best_step, good_enough, metric_of
from unweave.study.spec import SnapshotRule, Spec

LEFT_OUT = "not-applicable.json"  # metrics of a study that cannot be computed for a run
SCORING_ERROR = "scoring-error.txt"  # the traceback of a run that was trained but could not be scored
DAMAGED, OTHER = "damaged", "other version"  # states of runs that cannot be read
Measured = tuple[str, str, dict[str, float]]  # a metric, its protocol as JSON, and its scores by column


@dataclass(frozen=True)
class Record:
    """What the files of a run say, whatever the study asks for."""

    status: str  # as recorded, "" if nothing was; or DAMAGED or OTHER
    step: int = 0
    seconds: float = 0.0
    psnr: float | None = None
    error: str = ""
    measured: tuple[Measured, ...] = ()
    left_out: tuple[str, ...] = ()
    scoring_failed: bool = False
    configuration: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """One run of a study."""

    run: str
    settings: dict[str, Any]
    state: str  # finished, failed, interrupted, running, stopped, not started, damaged, other version
    step: int = 0
    seconds: float = 0.0
    psnr: float | None = None
    error: str = ""
    scores: dict[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()  # metrics of the study that were not measured yet
    folder: Path | None = None
    snapshot: int | None = None  # the step that was scored, if the study has a rule for snapshots

    @cached_property
    def configuration(self) -> dict[str, Any]:
        """The configuration of the run, {} if it was not started or cannot be read."""
        if self.folder is None or self.state in ("not started", DAMAGED, OTHER):
            return {}
        return read_fields(self.folder)

    def flat(self) -> dict[str, Any]:
        """Return the row as one dictionary for a data frame, without the configuration."""
        known = {"run": self.run, "state": self.state, "step": self.step, "seconds": self.seconds, "psnr": self.psnr}
        snapshot = {} if self.snapshot is None else {"snapshot": self.snapshot}
        return {**known, **self.settings, **snapshot, **self.scores, "error": self.error}


def read_row(folder: Path, settings: dict[str, Any], spec: Spec) -> Row:
    """Read what the store has of a run."""
    return row_of(read_record(folder), folder, settings, Asked(spec))


def read_record(folder: Path) -> Record:
    """Read the files of a run; one that cannot be read gives a record with the reason."""
    try:
        state = read_state(folder)
        if state is None:
            return Record("")
        fields = read_fields(folder)
        measured = tuple(_measured(folder, read_scores(folder).entries))
    except OtherVersion as error:
        return Record(OTHER, error=str(error))
    except Damaged as error:
        return Record(DAMAGED, error=f"{error.reason}.")
    except (Unavailable, InputError) as error:
        return Record(DAMAGED, error=str(error))
    failed = (folder / SCORING_ERROR).exists()
    return Record(
        state.status,
        state.step,
        state.seconds,
        state.psnr,
        state.error,
        measured,
        tuple(_left_out(folder)),
        failed,
        fields,
    )


NOT_STARTED = Record("not started")  # there is no folder


@dataclass(frozen=True)
class Chosen:
    """What was measured of a run as a study asks for it."""

    scores: dict[str, float]
    missing: tuple[str, ...]  # metrics
    snapshot: int | None  # the step that was scored, if there is a rule for snapshots


class Asked:
    """What a study asks to be measured: its metrics, each with a protocol, of the final weights or of a snapshot."""

    def __init__(self, spec: Spec, *, stage: int = 1) -> None:
        score = spec.scoring_of(stage)
        shared = {"samples": score.samples, "test_samples": score.test_samples, "seed": score.seed}
        self.metrics = spec.metrics
        self._rule = score.snapshot
        self._protocols = {
            metric: {**shared, "settings": to_plain(score.settings.get(metric, {}))} for metric in spec.metrics
        }
        self._matching: dict[tuple[str, str], tuple[bool, int | None]] = {}  # by metric and protocol

    def chosen(self, record: Record, settings: dict[str, Any]) -> Chosen:
        """Return what was measured of a run as asked."""
        measured: dict[int, dict[str, dict[str, float]]] = {}  # by step and metric
        for metric, protocol, numbers in record.measured:
            matches, step = self._match(metric, protocol)
            if matches:
                measured.setdefault(record.step if step is None else step, {})[metric] = numbers
        snapshot = None if self._rule is None else self._snapshot(self._rule, measured, settings)
        step = record.step if self._rule is None else snapshot
        found = {} if step is None else measured.get(step, {})
        scores: dict[str, float] = {}
        for metric in self.metrics:
            scores |= found.get(metric, {})
        return Chosen(scores, tuple(metric for metric in self.metrics if metric not in found), snapshot)

    def _snapshot(
        self, rule: SnapshotRule, measured: dict[int, dict[str, dict[str, float]]], settings: dict[str, Any]
    ) -> int | None:
        """Return the step of the snapshot that counts, None if none does or not all of them were measured."""
        least, metric = rule.psnr.get(str(settings["data"])), metric_of(rule.by, self.metrics)
        first = metric if least is None else "psnr"
        quality = {
            step: found[first][rule.by if least is None else "psnr"]
            for step, found in measured.items()
            if first in found
        }
        good = good_enough(quality, least)
        if len(quality) < settings["snapshots"] or any(metric not in measured[step] for step in good):
            return None
        return best_step(rule, {step: measured[step][metric][rule.by] for step in good})

    def _match(self, metric: str, protocol: str) -> tuple[bool, int | None]:
        """Return whether a protocol is the one that was asked for, and its step."""
        known = self._matching.get((metric, protocol))
        if known is None:
            asked, measured = self._protocols.get(metric), json.loads(protocol)
            matches = asked is not None and all(measured.get(key) == value for key, value in asked.items())
            known = self._matching[metric, protocol] = (matches, measured.get("step"))
        return known


def row_of(record: Record, folder: Path, settings: dict[str, Any], asked: Asked) -> Row:
    """Return the row of a run: what was recorded, as the study asks for it."""
    state = record.status
    if state in ("", "running"):
        alive = is_beating(folder)
        state = "running" if alive else "stopped" if state else "not started"
    if state in ("not started", DAMAGED, OTHER) or not record.status:
        return Row(folder.name, settings, state, error=record.error, missing=asked.metrics, folder=folder)
    chosen = asked.chosen(record, settings)
    missing = tuple(name for name in chosen.missing if name not in record.left_out)
    failed = record.scoring_failed and bool(missing)
    return Row(
        folder.name,
        settings,
        "failed" if failed else state,
        record.step,
        record.seconds,
        record.psnr,
        _why_not_scored(folder) if failed else record.error,
        chosen.scores,
        missing,
        folder,
        chosen.snapshot,
    )


def _why_not_scored(folder: Path) -> str:
    """Return the last line of the traceback of a run that could not be scored."""
    try:
        lines = (folder / SCORING_ERROR).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return f"scoring failed: {lines[-1].rpartition('Error: ')[2]}" if lines else "scoring failed"


def flat_configuration(fields: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested fields as one dictionary, whose keys have dots."""
    flat: dict[str, Any] = {}
    for key, value in fields.items():
        if isinstance(value, dict):
            flat |= flat_configuration(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _measured(folder: Path, entries: Iterable[Entry]) -> Iterable[Measured]:
    """Yield the scores of a run as numbers; those of metrics that this version does not know are left out."""
    for entry in entries:
        try:
            numbers = Scores({entry.metric: StoredScores([entry])[entry.metric]}).table
        except InputError as error:
            if entry.metric not in METRICS and ":" not in entry.metric:
                continue
            if (writer := another_writer(vars(entry))) is not None:
                raise refused(folder / SCORES, writer, str(error)) from error
            raise Unavailable(f"{folder / SCORES} is damaged ({error}).") from error
        yield entry.metric, json.dumps(entry.protocol, sort_keys=True), numbers


def _left_out(folder: Path) -> list[str]:
    """Return the metrics that cannot be computed for a run, as its worker has recorded."""
    try:
        return list(json.loads((folder / LEFT_OUT).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return []
