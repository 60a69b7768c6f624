"""The noise floor of scores: what the codes of a run score when they belong to other images than their own."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from unweave.data import FactorData
from unweave.errors import InputError, MissingExtra, Unavailable
from unweave.explore.run_selection import Selection
from unweave.metrics import score
from unweave.metrics.scoring.catalogue import METRICS
from unweave.store.measurements import Measurement, read_protocol
from unweave.store.record import read_record
from unweave.training import Run, open_run

PERMUTATIONS = 3
Key = tuple[str, str]  # data set and recipe
Floor = dict[str, float]  # by score


class NoiseFloors:
    """The noise floor of each method on each data set, from one finished run, computed in the background."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._found: dict[Key, Floor] = {}
        self._busy = threading.Lock()

    def look(self, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Return what is known of the methods in these rows of the table, and whether more is being computed."""
        runs = {(row["data"], row["recipe"]): row["run"] for row in rows if row.get("scores")}
        wanted = {key: run for key, run in runs.items() if key not in self._found}
        if wanted and self._busy.acquire(blocking=False):
            threading.Thread(target=self._compute, args=(wanted,), name="noise floor", daemon=True).start()
        floors = [{"data": data, "recipe": recipe, "scores": found} for (data, recipe), found in self._found.items()]
        return {"floors": floors, "busy": self._busy.locked()}

    def _compute(self, wanted: Mapping[Key, str]) -> None:
        try:
            for key, run in wanted.items():
                try:
                    self._found[key] = self._of_run(self._selection.folder(run))
                except (InputError, Unavailable, MissingExtra, LookupError):  # no data or weights here, or not trusted
                    self._found[key] = {}
        finally:
            self._busy.release()

    def _of_run(self, folder: Path) -> Floor:
        run = open_run(folder, trust=self._selection.trusted)
        with self._selection.guarded():
            data = run.data()
        return noise_floor(run, data, read_record(folder).scores_on().values())


def noise_floor(run: Run, data: FactorData, measured: Iterable[Measurement]) -> Floor:
    """Return the mean of each score over permuted factors, measured as before: with as many samples and the settings.

    Metrics of chosen images, and those that need no labels, have no noise floor.
    """
    alike: dict[tuple[int, int, int], dict[str, dict[str, Any]]] = {}  # settings by metric, by size and seed of samples
    for each in measured:
        if each.metric in METRICS and METRICS[each.metric].uses_factors:
            protocol = read_protocol(each.protocol)
            key = (protocol["samples"], protocol["test_samples"], protocol["seed"])
            alike.setdefault(key, {})[each.metric] = dict(protocol.get("settings") or {})
    found: Floor = {}
    for (samples, test_samples, seed), settings in alike.items():
        scores = score(
            run,
            data,
            metrics=list(settings),
            settings={metric: given for metric, given in settings.items() if given},
            samples=samples,
            test_samples=test_samples,
            seed=seed,
            null=PERMUTATIONS,
            workers=1,
        )
        found |= {name: worth.chance for name, worth in scores.worth.items() if worth.chance is not None}
    return {name: value for name, value in found.items() if math.isfinite(value)}
