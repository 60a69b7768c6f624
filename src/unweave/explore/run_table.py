"""The table of a study or a store: one row per run, read in the background and read again where files change."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unweave.explore.run_selection import Selection
from unweave.figures.drawing.panels import style_methods
from unweave.metrics.scoring.catalogue import METRICS
from unweave.names import method_of, spelled, words
from unweave.recipes.published import idea_of
from unweave.store.folder import CONFIGURATION, LABEL, SCORES, STATE
from unweave.store.lock import HEARTBEAT
from unweave.store.record import SCORING_ERROR, read_record
from unweave.study.table import Protocols, row_of

PAUSE = 2.0  # seconds between two looks at the files
FIXED = ("run", "label", "recipe", "data", "seed", "state", "step", "psnr", "seconds")  # columns of every table

Row = dict[str, Any]
Stamp = tuple[int, ...]


class Table:
    """The rows of a selection as columns."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._rows: dict[str, tuple[Stamp, Row]] = {}
        self._total, self._version, self._looked = 0, 0, 0.0
        self._busy = threading.Lock()

    def look(self, known: int | None = None) -> dict[str, Any]:
        """Return the table as far as it has been read, or only its version if that is ``known`` to the page.

        Reading goes on in a background thread.
        """
        if time.monotonic() - self._looked > PAUSE and self._busy.acquire(blocking=False):
            threading.Thread(target=self._read_and_release, name="table", daemon=True).start()
        state = {
            "version": self._version,
            "read": len(self._rows),
            "total": self._total,
            "reading": self._busy.locked(),
        }
        if known == self._version:
            return state
        rows = [row for _, row in list(self._rows.values())]
        found = columns(rows)
        return {**state, "rows": len(rows), "columns": found, "axes": first_axes(found)}

    def finished(self) -> list[Row]:
        """Return the rows of the runs that are finished, as far as they have been read."""
        return [row for _, row in list(self._rows.values()) if row["state"] == "finished"]

    def read(self) -> None:
        """Read the rows whose files have changed since the last time."""
        folders = self._selection.folders()
        self._total = len(folders)
        for name in [name for name in self._rows if name not in folders]:
            del self._rows[name]
            self._version += 1
        for name, folder in folders.items():
            stamp = _stamp(folder)
            if name not in self._rows or self._rows[name][0] != stamp:
                settings = (self._selection.settings or {}).get(name)
                self._rows[name] = (stamp, read_row(folder, settings, self._selection.protocols.get(name)))
                self._version += 1
        self._looked = time.monotonic()

    def _read_and_release(self) -> None:
        try:
            self.read()
        finally:
            self._busy.release()


def read_row(folder: Path, settings: Mapping[str, Any] | None = None, protocols: Protocols | None = None) -> Row:
    """Return what the files of a run say, in parts: what every run has, its settings and its scores.

    A run of a study has the ``settings`` of the study, and its state and scores are those of the study's table.
    """
    record = read_record(folder)
    row: Row = {"run": record.name, "label": record.label, "state": record.state, "error": record.error}
    if record.status and record.is_readable:
        row |= {"step": record.step, "psnr": record.psnr, "seconds": record.seconds}
    if not record.fields or not record.is_readable:
        return {**row, "settings": dict(settings or {}), **_planned(settings or {})}
    fields = record.fields
    row |= {"recipe": fields["recipe"], "data": record.data, "seed": fields["seed"], "settings": record.settings}
    row |= {"step": None} if fields.get("linear") else {"steps": fields["steps"]}
    row["scores"] = record.scores
    if settings is not None and protocols is not None:
        own = row_of(record, dict(settings), protocols)
        row |= {"settings": own.settings, "state": own.state, "error": own.error, "scores": own.scores}
    return row


def columns(rows: list[Row]) -> list[dict[str, Any]]:
    """Return the rows as columns ``{name, kind, values}``: run and label, scores, what every run has, then settings.

    Settings that are the same in all runs that have them are left out. Columns of methods and data sets have
    ``titles``, which map values to how they are printed. Scores have a ``title``, and ``best``: higher, lower or
    neither.
    """
    fixed: list[dict[str, Any]] = [
        {"name": name, "kind": "run", "values": [_cell(row.get(name)) for row in rows]} for name in FIXED
    ]
    for column in fixed:
        if column["name"] == "psnr":
            column["title"] = words("psnr")
        if column["name"] in ("recipe", "data"):
            column["titles"] = {value: spelled(value) for value in set(column["values"]) if isinstance(value, str)}
        if column["name"] == "recipe":
            column["words"] = {value: idea_of(method_of(value)) for value in column["titles"]}
            column["colours"] = {name: look["color"] for name, look in style_methods(sorted(column["titles"])).items()}
    if any(row.get("error") for row in rows):
        fixed.append({"name": "error", "kind": "run", "values": [row.get("error") or None for row in rows]})
    others: dict[str, list[dict[str, Any]]] = {"settings": [], "scores": []}
    for kind, found in others.items():
        parts = [row.get(kind) or {} for row in rows]
        names = dict.fromkeys(name for part in parts for name in part)
        for name in sorted(names, key=_place_of_score) if kind == "scores" else names:
            values = [part.get(name) for part in parts]
            if name not in FIXED and (kind == "scores" or _differs(values)):
                found.append({"name": name, "kind": kind.removesuffix("s"), "values": [_cell(v) for v in values]})
    for column in others["scores"]:
        metric = METRICS.get(column["name"].partition(".")[0])
        column |= {"title": words(column["name"]), "best": "higher" if metric is None else metric.best}
    return [*fixed[:2], *others["scores"], *fixed[2:], *others["settings"]]


def first_axes(found: list[dict[str, Any]]) -> dict[str, str]:
    """Return the columns that the chart shows at first, ``{"y": score, "x": setting}``, as far as there are any.

    The score is the one that most finished runs have, the first in the order of the metrics among equals. The setting
    is ``strength``; or else the recipe, if there are several; or else the setting that has most values among the
    finished runs with that score, numbers before texts.
    """
    states: list[Any] = next((column["values"] for column in found if column["name"] == "state"), [])
    finished = [place for place, state in enumerate(states) if state == "finished"] or range(len(states))

    def values(column: dict[str, Any]) -> list[Any]:
        return [value for place in finished if (value := column["values"][place]) is not None]

    def variety(column: dict[str, Any]) -> tuple[int, bool]:
        scored = [place for place in finished if score is None or score["values"][place] is not None]
        present = [value for place in scored if (value := column["values"][place]) is not None]
        return len(set(present)), all(isinstance(value, int | float) for value in present)

    scores = [column for column in found if column["kind"] == "score"]
    settings = [column for column in found if column["kind"] == "setting"]
    strength = [column for column in settings if column["name"] == "strength"]
    recipes = [column for column in found if column["name"] == "recipe" and len(set(values(column))) > 1]
    score = max(scores, key=lambda column: len(values(column)), default=None)
    axes = {"y": score, "x": max(strength or recipes or settings, key=variety, default=None)}
    return {axis: column["name"] for axis, column in axes.items() if column is not None}


def _planned(settings: Mapping[str, Any]) -> Row:
    return {name: settings[name] for name in ("recipe", "data", "seed") if isinstance(settings.get(name), str | int)}


def _place_of_score(name: str) -> tuple[int, int]:
    """Return a key that sorts scores in the order of the metrics, those of the user's own last."""
    metric, _, part = name.partition(".")
    if metric not in METRICS:
        return len(METRICS), 0
    names = METRICS[metric].scores
    return list(METRICS).index(metric), names.index(part) if part in names else 0


def _differs(values: list[Any]) -> bool:
    """Return whether runs that have a setting differ in it; a setting that a run does not have is no difference."""
    present = [value for value in values if value is not None]
    return any(value != present[0] for value in present)


def _cell(value: Any) -> Any:
    """Return a value as a number or a text, None where it is missing; what is not finite is missing."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, int | str) else str(value)


def _stamp(folder: Path) -> Stamp:
    """Return numbers that change when the files of a run change."""
    stamp = []
    for name in (CONFIGURATION, STATE, SCORES, LABEL, SCORING_ERROR):
        try:
            found = (folder / name).stat()
            stamp += [found.st_mtime_ns, found.st_size]
        except OSError:
            stamp += [0, 0]
    return (*stamp, int((folder / HEARTBEAT).exists()))
