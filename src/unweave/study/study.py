"""A study: many runs from one specification, trained, scored, and read as a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.errors import InputError, Unavailable, extra, whole
from unweave.study.local import default_workers, run_tasks
from unweave.study.planning import Planned, configured, plan
from unweave.study.selecting import select
from unweave.study.spec import Spec, parse_spec, read_spec
from unweave.study.table import Row, read_row
from unweave.study.worker import Report, Task
from unweave.training import Run, open_run
from unweave.training.store import read_state, status_of, store_folder

if TYPE_CHECKING:
    import pandas

DONE = ("finished", "failed")


class Study:
    """The runs of a specification in a store. Running it again continues it."""

    def __init__(self, spec: str | Path | Spec, *, store: str | Path | None = None) -> None:
        """``spec`` is the path of a TOML file, a TOML text, or a Spec."""
        self._text = ""
        if isinstance(spec, Spec):
            self.spec = spec
        elif isinstance(spec, str) and "\n" in spec:
            self._text, self.spec = spec, parse_spec(spec)
        else:
            self.spec = read_spec(spec)
            self._text = Path(spec).read_text(encoding="utf-8")
        self.store = store_folder(store)

    @cached_property
    def planned(self) -> list[Planned]:
        """The runs of the first stage."""
        return plan(self.spec, self._text)

    def all_planned(self) -> list[Planned]:
        """Return the runs of all stages; those of the second are known once the first is finished."""
        first = self.planned
        if self.spec.select is None:
            return first
        rows = [self._row(planned) for planned in first]
        if any(row.state not in DONE or not self._is_scored(row) for row in rows):
            return first
        chosen = select(self.spec.select, rows)
        second = [{**settings, "seed": seed} for settings in chosen for seed in self.spec.select.seeds]
        known = {planned.name for planned in first}
        more = [Planned(settings, configured(settings)) for settings in second]
        return [*first, *(planned for planned in more if planned.name not in known)]

    def status(self) -> dict[str, int]:
        """Return how many runs are in each state; "unscored" are finished but lack a metric."""
        counts: dict[str, int] = {}
        for planned in self.all_planned():
            state = self._state(planned)
            counts[state] = counts.get(state, 0) + 1
        return counts

    def run(
        self,
        *,
        workers: int | None = None,
        part: tuple[int, int] | None = None,
        retry: bool = False,
        report: Callable[[Report], None] | None = None,
        watch: Callable[[int, list[str]], None] | None = None,
        **execution: Any,
    ) -> dict[str, int]:
        """Train and score what is not done yet, and return the number of runs in each state.

        ``workers`` are processes of one thread, by default one per core. ``part=(i, n)`` takes the i-th of n parts of
        the runs, for job arrays. ``retry`` tries failed runs again.
        """
        workers = default_workers() if workers is None else whole("workers", workers, at_least=1)
        self.store.mkdir(parents=True, exist_ok=True)
        if retry:
            self._forget_failures()
        while tasks := self._tasks(part, execution):
            remaining = len(tasks)

            def count(said: Report) -> None:
                nonlocal remaining
                remaining -= 1
                if report is not None:
                    report(said)

            run_tasks(tasks, workers, count, lambda names: watch(remaining, names) if watch else None)  # noqa: B023
            if self.spec.select is None:
                break
        return self.status()

    def table(self) -> pandas.DataFrame:
        """Return a data frame with one row per run: settings, configuration, scores, timing and state."""
        pandas = extra("pandas", "study")
        rows = [self._row(planned) for planned in self.all_planned()]
        return pandas.DataFrame([row.flat() for row in rows])

    def runs(self, where: Mapping[str, Any] | Callable[[Row], bool] | None = None) -> list[Run]:
        """Open the finished runs with these settings, or those for which a function of the row is true."""
        rows = [self._row(planned) for planned in self.all_planned()]
        if isinstance(where, Mapping):
            wanted = dict(where)
            known = {key for row in rows for key in row.settings}
            for key in wanted:
                if key not in known:
                    raise InputError(f"where: no run of this study has a setting {key!r}: there are {sorted(known)}.")
            rows = [row for row in rows if all(row.settings.get(key) == value for key, value in wanted.items())]
        elif where is not None:
            rows = [row for row in rows if where(row)]
        return [open_run(self.store / row.run) for row in rows if row.state == "finished"]

    def _row(self, planned: Planned) -> Row:
        return read_row(self.store / planned.name, planned.settings, self.spec)

    def _state(self, planned: Planned) -> str:
        row = self._row(planned)
        return "unscored" if row.state == "finished" and not self._is_scored(row) else row.state

    def _is_scored(self, row: Row) -> bool:
        return row.state != "finished" or row.missing == ()

    def _tasks(self, part: tuple[int, int] | None, execution: Mapping[str, Any]) -> dict[str, Task]:
        planned = self.all_planned()
        if part is not None:
            index, parts = (whole("part", number, at_least=1) for number in part)
            if index > parts:
                raise InputError(f"part {index}/{parts}: the first number must be at most the second.")
            planned = [run for run in planned if int(run.name, 16) % parts == index - 1]
        settings = {"threads": 1, "device": "cpu", **execution}
        return {
            run.name: Task(
                json.loads(run.configuration.model_dump_json()),
                str(self.store),
                self.spec.metrics,
                self.spec.score.model_dump(),
                settings,
            )
            for run in planned
            if self._state(run) not in DONE
        }

    def _forget_failures(self) -> None:
        for planned in self.all_planned():
            folder = self.store / planned.name
            try:
                state = read_state(folder)
            except Unavailable:
                continue
            if state is not None and status_of(folder, state) == "failed":
                (folder / "state.json").unlink(missing_ok=True)
            (folder / "scoring-error.txt").unlink(missing_ok=True)


def measured_seconds(rows: list[Row]) -> float | None:
    """Return the mean seconds of finished runs, for estimates; None if there are none."""
    seconds = [row.seconds for row in rows if row.state == "finished" and row.seconds > 0]
    return sum(seconds) / len(seconds) if seconds else None
