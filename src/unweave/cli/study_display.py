"""The display of ``unweave study run``: one live table in a terminal, lines of text elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from unweave.names import brief
from unweave.progress import SECONDS, duration, level
from unweave.store.folder import LOG
from unweave.store.state import doing_of, last_step

if TYPE_CHECKING:
    from unweave.study import Study
    from unweave.study.engines.worker import Report
    from unweave.study.estimate import Progress
    from unweave.study.grid import Planned

SHOWN = 12  # runs under way
COLUMNS = 5  # of settings that vary
Watch = Callable[[Collection[str], Sequence[str]], None]


@contextmanager
def shown(study: Study) -> Iterator[tuple[Callable[[Report], None], Watch]]:
    """Show how a study proceeds; yields the functions that :meth:`Study.run` calls."""
    console = Console(stderr=True)
    progress = StudyProgress(study)
    if level() == "quiet":
        yield progress.report, progress.watch
    elif console.is_terminal:
        with Live(console=console, get_renderable=progress.table, refresh_per_second=2, transient=True) as live:

            def report(said: Report) -> None:
                progress.report(said)
                if said.outcome == "failed":
                    live.console.print(progress.failure(said), markup=False, highlight=False)

            yield report, progress.watch
    else:
        yield _lines(progress, console)


def _lines(progress: StudyProgress, console: Console) -> tuple[Callable[[Report], None], Watch]:
    """Return functions that print a line from time to time, and every failure at once."""
    printed = time.monotonic()

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    def report(said: Report) -> None:
        progress.report(said)
        if said.outcome == "failed":
            say(progress.failure(said))

    def watch(left: Collection[str], running: Sequence[str]) -> None:
        nonlocal printed
        progress.watch(left, running)
        if time.monotonic() - printed >= SECONDS[level()]:
            printed = time.monotonic()
            say(progress.line())

    return report, watch


class StudyProgress:
    """The numbers that are shown: runs that are done, under way and failed, their rate, and the time that is left."""

    def __init__(self, study: Study) -> None:
        from unweave.study.estimate import Pace, scoring_seconds
        from unweave.study.grid import varying

        self._study = study
        self._planned: dict[str, Planned] = {}
        self._columns = varying(study.planned)[:COLUMNS]
        self._began = time.monotonic()
        self._before = self._finished = self._failed = 0  # runs: done earlier, and ended since
        self._left: Collection[str] = ()  # runs that are not done, those under way included
        self._since: dict[str, float] = {}  # when each run under way was first seen
        self._first: dict[
            str, tuple[float, int]
        ] = {}  # when each was first seen to have taken steps, and its step then
        first = next((run.configuration for run in study.planned), None)
        self._pace = Pace(0.0 if first is None else scoring_seconds(first, study.scoring_cost()))

    def report(self, said: Report) -> None:
        """Count a run that ended."""
        self._finished += said.outcome == "finished"
        self._failed += said.outcome == "failed"
        self._since.pop(said.run, None)
        self._first.pop(said.run, None)
        self._pace.end(said.run, said.seconds if said.outcome == "finished" else 0.0)

    def watch(self, left: Collection[str], running: Sequence[str]) -> None:
        """Note which runs are left, and which of them are under way."""
        if not self._planned or any(name not in self._planned for name in running):  # the first or the second stage
            self._planned = {run.name: run for run in self._study.all_planned()}
            self._before = len(self._planned) - len(left) - self._finished - self._failed
            self._pace.expect({name: self._planned[name].configuration for name in left if name in self._planned})
        now = time.monotonic()
        self._left, self._since = left, {name: self._since.get(name, now) for name in running}

    def line(self) -> str:
        """Return the numbers as one line of text."""
        doing = sorted({said for name in self._since if (said := self._step(name)).startswith("scoring ")})
        running = self._study.waiting_for or f"{len(self._since)} running"
        counts = f"{self._done():,} of {len(self._planned):,} done, {running}, {self._failed} failed"
        return f"{self._study.spec.name}: {counts}, {self._rate():.1f} runs/min, time left: {self._time_left()}" + (
            f"; {', '.join(doing)}" if doing else ""
        )

    def failure(self, said: Report) -> str:
        """Return what is printed of a run that failed."""
        settings = self._settings(said.run)
        known = ", ".join(f"{key}={settings[key]}" for key in self._columns if key in settings)
        return f"failed: {said.run}{f' ({known})' if known else ''}: {said.error}"

    def table(self) -> Group:
        """Return the numbers and the runs under way as tables."""
        numbers = Table("study", "done", "running", "failed", "rate", "time left", box=None, pad_edge=False)
        numbers.add_row(
            self._study.spec.name,
            f"{self._done():,} of {len(self._planned):,}",
            self._study.waiting_for or f"{len(self._since):,}",
            Text(f"{self._failed:,}", style="bold red" if self._failed else ""),
            f"{self._rate():.1f} runs/min",
            self._time_left(),
        )
        runs = Table("run", *self._columns, "step", "time", box=None, pad_edge=False, header_style="dim")
        for name, since in list(self._since.items())[:SHOWN]:
            settings = self._settings(name)
            values = ["" if settings.get(key) is None else brief(settings[key]) for key in self._columns]
            runs.add_row(name, *values, self._step(name), duration(time.monotonic() - since))
        more = len(self._since) - SHOWN
        rest = [Text(f"and {more:,} more", style="dim")] if more > 0 else []
        return Group(numbers, Text(), runs, *rest) if self._since else Group(numbers)

    def _settings(self, name: str) -> dict[str, Any]:
        return self._planned[name].settings if name in self._planned else {}

    def _step(self, name: str) -> str:
        steps = self._planned[name].configuration.steps if name in self._planned else 0
        at = self._last_step(name)
        return "starting" if not at else self._scored(name) if at == steps else f"{at:,} of {steps:,}"

    def _scored(self, name: str) -> str:
        """Return what is measured of a run now, as in "scoring factor_vae_score"."""
        return doing_of(self._study.stored.work / name) or "scoring"

    def _last_step(self, name: str) -> int:
        return last_step(self._study.stored.work / name / LOG)

    def _done(self) -> int:
        return self._before + self._finished

    def _rate(self) -> float:
        return 60 * (self._finished + self._failed) / max(time.monotonic() - self._began, 1e-9)

    def _time_left(self) -> str:
        under_way, workers = {name: self._progress(name) for name in self._since}, max(1, len(self._since))
        if (seconds := self._pace.left(under_way)) is not None:
            return duration(seconds / workers) if seconds >= 1 or not under_way else "soon"
        training = self._pace.training_left(under_way)
        return "not known yet" if training is None else f"{duration(training / workers)} and scoring"

    def _progress(self, name: str) -> Progress:
        """Return how far a run under way is; its clock starts with its first steps, because imports take time."""
        from unweave.study.estimate import Progress

        step, now = self._last_step(name), time.monotonic()
        if not step:
            return Progress(0, 0, 0.0)
        since, first = self._first.setdefault(name, (now, step))
        return Progress(step, step - first, now - since)
