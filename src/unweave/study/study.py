"""A study: many runs from one specification, trained, scored, and read as a table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.errors import InputError, Stopped, extra, whole
from unweave.lazy_imports import later
from unweave.names import score_fields
from unweave.progress import progress
from unweave.store.index import RecordTable
from unweave.store.store import Store
from unweave.study.columns import read_table, with_disentanglement, with_settings
from unweave.study.damaged_runs import find_damage, set_aside_damaged
from unweave.study.engines.engine import Engine
from unweave.study.engines.worker import Report, Task
from unweave.study.estimate import Estimate, ScoringCost, estimate
from unweave.study.grid import Planned, configured, plan, varying
from unweave.study.results import FINAL, SCORES, VARIES, lay_beside, results
from unweave.study.spec import Spec, find_spec, parse_spec, read_spec
from unweave.study.table import Protocols, Row, row_of, select
from unweave.training import Execution, Run
from unweave.training.configuration import check_device
from unweave.training.run import open_folder_of

if TYPE_CHECKING:
    import pandas

DONE = ("finished", "failed")
PATIENCE = 600.0  # seconds to wait for a store that cannot be reached
ENDED = 200  # runs after which the index of a store at an address is put in order
NOTHING = Estimate(0.0, 0, 0, 0)  # is left


class Study:
    """The runs of a specification in a store. Running it again continues it.

    Examples:
        >>> import unweave
        >>> spec = '''
        ... name = "strengths"
        ... [[grid]]
        ... recipe = "beta_vae"
        ... data = "xysquares"
        ... beta = [1, 4]
        ... seed = [0, 1, 2]
        ... '''
        >>> study = unweave.Study(spec, store="runs")
        >>> len(study.planned)
        6
    """

    def __init__(self, spec: str | Path | Spec, *, store: str | Path | None = None) -> None:
        """``spec`` is the path of a TOML file, a name such as tripod/lite, a TOML text, or a Spec."""
        self._text, self.file = "", ""  # the file, or the name of a specification that comes with Unweave
        if isinstance(spec, Spec):
            self.spec = spec
        elif isinstance(spec, str) and "\n" in spec:
            self._text, self.spec = spec, parse_spec(spec)
        else:
            path = find_spec(spec)
            self.spec = read_spec(path)
            self._text, self.file = path.read_text(encoding="utf-8"), str(spec)
        self.set_aside: dict[str, str] = {}  # damaged runs that the last call of run has set aside, with reasons
        self.unfinished: dict[str, str] = {}  # runs that the last call of run did not finish, with reasons
        self.waiting_for = ""  # what a call of run waits for, such as a node of a Ray cluster
        self.stored = Store(store)
        self.store = self.stored.folder  # of this machine, where the files of runs are read

    @property
    def text(self) -> str:
        """The specification as TOML, as it was given; as JSON if it was given as a Spec."""
        return self._text or self.spec.model_dump_json(indent=2, exclude_none=True)

    @cached_property
    def planned(self) -> list[Planned]:
        """The runs of the first stage."""
        try:
            return plan(self.spec, self._text)
        except InputError as error:
            raise error.reworded(f"{self.file}: {error}" if self.file else str(error)) from error

    def all_planned(self) -> list[Planned]:
        """Return the runs of all stages; those of the second are known once the first is finished."""
        first = self.planned
        if self.spec.select is None:
            return first
        rows = self.rows(first)
        if any(row.state not in DONE or not self._is_scored(row) for row in rows):
            return first
        chosen = select(self.spec.select, rows)
        chosen += self.spec.select.ablated(chosen)
        second = [{**settings, "seed": seed} for settings in chosen for seed in self.spec.select.seeds]
        known = {planned.name for planned in first}
        more = [Planned(settings, configured(settings), stage=2) for settings in second]
        return [*first, *(planned for planned in more if planned.name not in known)]

    def second_stage(self) -> int:
        """Return how many runs the second stage has: fresh seeds of one choice per group; 0 if there is none."""
        if (rule := self.spec.select) is None:
            return 0
        groups = {tuple(repr(run.settings.get(key)) for key in rule.per): run.settings for run in self.planned}
        return (len(groups) + len(rule.ablated(list(groups.values())))) * len(set(rule.seeds))

    def status(self) -> dict[str, int]:
        """Return how many runs are in each state; "unscored" are finished but lack a metric."""
        return dict(Counter(self._state(row) for row in self.rows()))

    def rows(self, planned: list[Planned] | None = None) -> list[Row]:
        """Return what the store has of runs, by default of all."""
        wanted = self.all_planned() if planned is None else planned
        return self._rows_in(self.stored.records(run.name for run in wanted), wanted)

    def run(
        self,
        *,
        engine: str = "local",
        workers: int | None = None,
        address: str | None = None,
        cpus: float = 1,
        gpus: float = 0,
        part: tuple[int, int] | None = None,
        retry: bool = False,
        patience: float = PATIENCE,
        report: Callable[[Report], None] | None = None,
        watch: Callable[[Collection[str], Sequence[str]], None] | None = None,
        **execution: Any,
    ) -> dict[str, int]:
        """Train and score what is not done yet, and return the number of runs in each state.

        A failure of a machine (disk, permission, memory, store) is not one of the run, which is tried again. A machine
        that fails twice in a row gets no more runs, and if none is left, the study ends.

        Damaged run folders are set aside and their runs are trained again; ``set_aside`` has the reasons by run.
        ``unfinished`` has the runs, of the part, that are not finished and scored now, with the reason of each.

        Args:
            engine: ``"local"`` uses processes on this machine, of one thread each; ``"ray"`` uses a Ray cluster.
            workers: The number of processes of the local engine, by default one per core.
            address: The address of the Ray cluster; ``"auto"`` finds one that runs on this machine, None starts one
                here.
            cpus: The number of cores that each run takes in Ray, which can be a fraction.
            gpus: The number of GPUs that each run takes in Ray, which can be a fraction.
            part: ``(i, n)`` takes the i-th of n parts of the runs, for job arrays; by default all runs are taken.
            retry: Whether failed runs are tried again.
            patience: How long to wait for a store at an address that cannot be reached, in seconds; after that, the
                study ends, and what is finished on this machine is delivered when it is run again.
            report: A function that is called for each run that ends. Without it and ``watch``, a bar is shown.
            watch: A function that is called about once a second with the names of the runs that are left and of those
                under way.
            **execution: Settings of the execution of each run, such as ``device``.

        Returns:
            The number of runs, of the part, in each state, by the name of the state.
        """
        chosen = Engine(engine, workers, address, cpus, gpus)
        execution = {**chosen.execution, **execution}
        wanted = Execution(**execution)  # a wrong setting is one mistake, not the failure of every run
        if chosen.name == "local" or (chosen.address is None and not chosen.gpus):  # on this machine
            check_device(wanted.device)
        self.stored.make()
        said: dict[str, Report] = {}  # also what could not be recorded
        with self.stored.one_listing():
            self.stored.begin(patience)
            if retry:
                self._forget_failures(part)
            self.set_aside = set_aside_damaged(self.stored, self._in_part(part))
            stopped = ""  # why the study cannot go on
            while tasks := self._tasks(part, execution, patience, tried=said.keys()):
                left = set(tasks)
                bar = progress(f"study {self.spec.name}", len(tasks), unit="runs")

                def ended(one: Report, left: set[str] = left) -> None:
                    left.discard(one.run)
                    said[one.run] = one
                    advance(1)
                    if report is not None:
                        report(one)
                    if len(said) % ENDED == 0:
                        self.stored.compact()

                def under_way(names: list[str], waiting_for: str, left: set[str] = left) -> None:
                    self.waiting_for = waiting_for
                    advance(0, waiting_for or f"{len(names)} under way")
                    if watch is not None:
                        watch(left, names)

                with nullcontext(lambda amount, note="": None) if report or watch else bar as advance:
                    try:
                        chosen.run_tasks(tasks, ended, under_way)
                    except Stopped as error:
                        stopped = str(error)
                for run in left:  # not carried out, which is not tried again and again
                    said[run] = Report(run, "busy", 0.0, stopped)
                if self.spec.select is None or stopped:
                    break
                self.stored.list_again()
            if said and not stopped:
                self.stored.end({run for run, one in said.items() if one.outcome == "finished"})
            return self._states(self.rows(self._in_part(part)), said)

    def check(self, report: Callable[[str], None] | None = None, *, repair: bool = False) -> dict[str, str]:
        """Read every file of every finished run, and return what is damaged, by run.

        Args:
            report: A function that is called with the name of each run that was read.
            repair: Whether damaged runs are set aside, so that they are trained again by :meth:`run`.

        Returns:
            What is damaged, by the name of the run.
        """
        with self.stored.one_listing():
            found = find_damage(self.stored, self.all_planned(), report)
            return {run: reason for run, reason in found.items() if not repair or self.stored.set_aside(run, reason)}

    def _states(self, rows: list[Row], said: Mapping[str, Report]) -> dict[str, int]:
        """Count the states of runs after they were carried out, and keep the reasons of those that are not finished.

        A store at an address is not listed again for this: what workers have delivered is known from their reports.
        """
        counts: dict[str, int] = {}
        self.unfinished = {}
        for row in rows:
            state, error, one = self._state(row), row.error, said.get(row.run)
            if one is not None and one.outcome in DONE and self.stored.remote is not None:
                state = one.outcome
            counts[state] = counts.get(state, 0) + 1
            if state != "finished":
                self.unfinished[row.run] = (one.error if one else "") or error or state
        return counts

    def table(self, where: Mapping[str, Any] | None = None) -> pandas.DataFrame:
        """Return a data frame with one row per run: settings, configuration, scores, timing and state.

        ``where`` keeps the runs with these settings, as in ``{"tag": "figure 6", "beta": [0.001, 0.01]}``; a list means
        any of its values.

        Its attributes (``table.attrs``) say how it is read: ``disentanglement`` has the scores of that name in the
        specification, by which questions compare; ``scores`` all that the study measures, ``varies`` the settings in
        which runs differ, and ``final`` the runs of the second stage.
        """
        pandas = extra("pandas", "study")
        planned = self.all_planned()
        names = [run.name for run in planned]
        found = self.stored.records(names)
        rows = [row.flat() for row in self._rows_in(found, planned)]
        table = pandas.concat([pandas.DataFrame(rows), found.configurations(names)], axis=1)
        table = with_disentanglement(table, self.spec.disentanglement)
        scores = [score for metric in self.spec.metrics for score in score_fields(metric)]
        final = [run.name for run in planned if run.stage == 2]
        table.attrs |= {SCORES: [*scores, *({"psnr"} - {*scores})], VARIES: varying(planned), FINAL: final}
        return with_settings(table, where).reset_index(drop=True) if where else table

    def results(
        self, *, metrics: Sequence[str] | None = None, beside: str | Path | pandas.DataFrame | None = None
    ) -> pandas.DataFrame:
        """Return the mean and deviation over seeds of every score, for each data set and method.

        See :func:`unweave.study.results.results`. ``beside`` is a table of results from elsewhere, or its file, whose
        methods are compared with those of the study.
        """
        return results(self.table_beside(beside), metrics=metrics)

    def table_beside(
        self, other: str | Path | pandas.DataFrame | None, where: Mapping[str, Any] | None = None
    ) -> pandas.DataFrame:
        """Return the :meth:`table` with results from elsewhere below it, as :func:`lay_beside` does."""
        if other is None:
            return self.table(where)
        name = Path(other).stem if isinstance(other, str | Path) else "elsewhere"
        return lay_beside(self.table(where), read_table(other) if isinstance(other, str | Path) else other, name)

    @property
    def titles(self) -> dict[str, str]:
        """Return the printed names of the user's own methods and data sets, which they give to themselves.

        The ``[titles]`` of the specification take precedence. A name that two of them have is not used.
        """
        called: dict[str, set[str]] = {}
        for run in self.planned:
            for given, name in ((run.settings["recipe"], run.recipe), (run.settings["data"], run.data.label)):
                called.setdefault(str(given), set()).add(name.rpartition(":")[2] if ":" in str(given) else str(given))
        counts = Counter(name for names in called.values() for name in names)
        own = {given: next(iter(names)) for given, names in called.items() if ":" in given and len(names) == 1}
        clear = {given: name for given, name in own.items() if counts[name] == 1}
        return {**clear, **self.spec.titles}

    def runs(self, where: Mapping[str, Any] | Callable[[Row], bool] | None = None) -> list[Run]:
        """Open the finished runs with these settings, as in :meth:`table`, or those that a function of the row chooses.

        A run that belongs to several grids is opened once.
        """
        every = self.all_planned()
        rows = self.rows(every)
        if isinstance(where, Mapping):
            wanted = set(self.table(where)["run"]) if where else {row.run for row in rows}
            rows = [row for row in rows if row.run in wanted]
        elif where is not None:
            if not callable(where):
                raise InputError(
                    f"where must be settings, as in {{'recipe': 'vae'}}, or a function of a row, got {where!r}."
                )
            rows = [row for row in rows if where(row)]
        planned = {run.name: run for run in every}
        return [self.open(planned[name]) for name in dict.fromkeys(row.run for row in rows if row.state == "finished")]

    def open(self, planned: Planned) -> Run:
        """Open a run of the study."""
        return open_folder_of(planned.configuration, self.stored.fetch(planned.name))

    def figure(self, name: str, **settings: Any) -> Any:
        """Draw a figure of the table of finished runs, or of the runs; see :func:`unweave.figure`."""
        return later("unweave.questions._figure:figure", name, self, **settings)

    def _repr_html_(self) -> str:
        return str(later("unweave.questions._notebook:study_html", self))

    def estimate(self, *, measure: bool = True) -> Estimate | None:
        """Estimate the time of the runs that are not done, from finished ones or from a short measurement."""
        planned = self.all_planned()
        rows = zip((run.configuration for run in planned), self.rows(planned), strict=True)
        different = list({row.run: (configuration, row) for configuration, row in rows}.values())
        left = [(c, c.steps - row.step) for c, row in different if self._state(row) not in DONE]
        return estimate(left, different, measure=measure, scoring=self.scoring_cost(len(left))) if left else NOTHING

    def scoring_cost(self, runs: int = 1) -> ScoringCost:
        """Return what determines how long it takes to score this many runs."""
        return ScoringCost(self.spec.metrics, self.spec.score.model_dump(exclude={"snapshot"}), runs)

    def _rows_in(self, found: RecordTable, planned: list[Planned]) -> list[Row]:
        protocols = {stage: Protocols(self.spec, stage=stage) for stage in (1, 2)}
        return [row_of(found.records[run.name], run.settings, protocols[run.stage]) for run in planned]

    def _state(self, row: Row) -> str:
        return "unscored" if row.state == "finished" and not self._is_scored(row) else row.state

    def _is_scored(self, row: Row) -> bool:
        return row.state != "finished" or row.missing == ()

    def _in_part(self, part: tuple[int, int] | None) -> list[Planned]:
        """Return the runs of a part, by their names, so that a part stays the same when runs are added."""
        planned = self.all_planned()
        if part is None:
            return planned
        index, parts = (whole("part", number, at_least=1) for number in part)
        if index > parts:
            raise InputError(f"part {index}/{parts}: the first number must be at most the second.")
        return [run for run in planned if int(run.name, 16) % parts == index - 1]

    def _tasks(
        self,
        part: tuple[int, int] | None,
        execution: Mapping[str, Any],
        patience: float | None = None,
        *,
        tried: Collection[str] = (),
    ) -> dict[str, Task]:
        planned, rule = self._in_part(part), self.spec.score.snapshot
        return {
            run.name: Task(
                json.loads(run.configuration.model_dump_json()),
                self.stored.address,
                self.spec.metrics,
                self.spec.scoring_of(run.stage).model_dump(),
                dict(execution),
                None if rule is None else rule.psnr.get(str(run.settings["data"])),
                patience,
            )
            for run, row in zip(planned, self.rows(planned), strict=True)
            if self._state(row) not in DONE and run.name not in tried
        }

    def _forget_failures(self, part: tuple[int, int] | None = None) -> None:
        for row in self.rows(self._in_part(part)):  # which also copies the states of failed runs from an address
            self.stored.forget_failure(row.run)
