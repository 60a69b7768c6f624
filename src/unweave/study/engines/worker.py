"""A worker: trains and scores one run after another, in a process that stays alive."""

from __future__ import annotations

import json
import math
import os
import signal
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from unweave.data import DataIdentity, FactorData, open_data
from unweave.errors import Away, InputError, Unavailable, is_of_machine
from unweave.metrics.scoring.request import ScoringInputs, Source, find_metrics
from unweave.progress import set_level, show_warnings_as_notes, told
from unweave.store.files import versions, write_text
from unweave.store.folder import DOING, is_address
from unweave.store.lock import Busy, locked
from unweave.store.record import LEFT_OUT, SCORING_ERROR, read_record
from unweave.store.remote.checkout import Checkout, checked_out
from unweave.store.state import State, read_state, write_state
from unweave.store.store import Store
from unweave.study.spec import Scoring
from unweave.study.table import best_step, good_enough, metric_of
from unweave.training import Configuration, Execution, Run, fit, score
from unweave.training.configuration import write_configuration

Outcome = Literal["finished", "failed", "busy", "elsewhere", "away"]
# busy: another process trains the run; elsewhere: this machine has failed, not the run; away: the same, because it has
# waited for the store in vain
LOOK = 10.0  # seconds between two looks at a run that another machine trains
CACHED = 4  # data sets that a worker keeps open
READY = "ready"  # what a worker process sends once, before its first task
POLL = 1.0  # seconds between two looks at the parent process


@dataclass(frozen=True)
class Task:
    """The task of a worker: train a configuration and score it."""

    fields: dict[str, Any]  # of the configuration, as JSON
    store: str
    metrics: tuple[str, ...]
    scoring: dict[str, Any]
    execution: dict[str, Any]
    psnr: float | None = None  # dB that a snapshot must have to be scored, if the study has a rule for them
    patience: float | None = None  # seconds to wait for a store that is away


@dataclass(frozen=True)
class Report:
    """The result of a task, reported by a worker."""

    run: str
    outcome: Outcome
    seconds: float
    error: str = ""
    again: float = 0.0  # seconds after which it is worth to look at a busy run again


class Worker:
    """Carries out tasks; data sets stay open between them."""

    def __init__(self) -> None:
        self._data: dict[DataIdentity, FactorData] = {}
        self._stores: set[str] = set()  # to which this machine has delivered what it had finished before

    def carry_out(self, task: Task) -> Report:
        """Train and score one run; every outcome is recorded in the store, except for failures of this machine."""
        began = time.monotonic()
        configuration = Configuration(**task.fields)
        try:
            self._begin(task)
            snapshots, seconds = (
                task.scoring.get("snapshot") is not None,
                Execution(**task.execution).checkpoint_seconds,
            )
            taken = checked_out(
                task.store, configuration.name, snapshots=snapshots, seconds=seconds, patience=task.patience
            )
            with taken as checkout:
                error = self._train_and_score(task, configuration, checkout)
            outcome: Outcome = "failed" if error else "finished"
        except Busy:
            again = LOOK if is_address(task.store) else 0.0
            return Report(configuration.name, "busy", time.monotonic() - began, again=again)
        except Exception as failure:
            error = str(failure) if isinstance(failure, Unavailable) else f"{type(failure).__name__}: {failure}"
            if is_of_machine(failure):
                outcome = "away" if isinstance(failure, Away) else "elsewhere"
            elif isinstance(failure, Unavailable):  # of a run that is damaged in the store
                outcome = "failed"
            else:
                raise
        return Report(configuration.name, outcome, time.monotonic() - began, error)

    def _begin(self, task: Task) -> None:
        """Deliver what this machine has finished and could not deliver, before anything else."""
        if task.store not in self._stores:
            Store(task.store).begin(task.patience)
            self._stores.add(task.store)

    def _train_and_score(self, task: Task, configuration: Configuration, checkout: Checkout) -> str:
        """Train and score a run in a folder of this machine; return the error if it failed, otherwise "".

        A failure of the machine is raised.
        """
        folder = checkout.store / configuration.name
        try:
            data = self._open(configuration.data)
            run = fit(configuration, Execution(**task.execution), data, checkout.store, keeper=checkout)
            checkout.check()
            scoring = Scoring(**task.scoring)
            names = applicable(task.metrics, run, data, scoring.source)
            if left_out := [name for name in task.metrics if name not in names]:
                write_text(folder / LEFT_OUT, json.dumps(left_out) + "\n")
            if names:
                with _shown(folder):
                    score_run(run, data, names, scoring, psnr=task.psnr)
        except (KeyboardInterrupt, SystemExit, Busy):
            raise
        except BaseException as error:
            if is_of_machine(error):
                raise
            with suppress(OSError):
                record_failure(folder, configuration, error)
            return f"{type(error).__name__}: {error}"
        return ""

    def _open(self, identity: DataIdentity) -> FactorData:
        if identity not in self._data:
            while len(self._data) >= CACHED:
                self._data.pop(next(iter(self._data)))
            self._data[identity] = open_data(identity)
        return self._data[identity]


@contextmanager
def _shown(folder: Path) -> Iterator[None]:
    """Keep what is measured now in the folder of the run, for the launcher to show."""
    path = folder / DOING

    def keep(task: str) -> None:
        with suppress(OSError):  # of a full disk; what is measured matters more than what is shown
            path.write_text(task, encoding="utf-8")

    try:
        with told(keep):
            yield
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def score_run(run: Run, data: FactorData, metrics: Sequence[str], scoring: Scoring, *, psnr: float | None) -> None:
    """Score a run as a study asks for it: its final weights, or the best snapshot.

    Args:
        run: The run.
        data: The data that it is scored on.
        metrics: The metrics.
        scoring: How they are measured.
        psnr: The PSNR in dB that a snapshot must have, None if any will do.
    """
    shared = scoring.model_dump(include={"samples", "test_samples", "seed", "source"})

    def measure(weights: Run, names: Sequence[str]) -> Mapping[str, float]:
        settings = {name: scoring.settings[name] for name in names if name in scoring.settings}
        return score(weights, data, metrics=names, settings=settings, workers=1, **shared).table

    if (rule := scoring.snapshot) is not None:
        chosen, steps = list(dict.fromkeys(metric_of(each, metrics) for each in rule.scores)), run.snapshots()
        if not steps:
            raise InputError("the run has no snapshots.")
        quality = {step: math.inf if psnr is None else measure(run.at(step), ["psnr"])["psnr"] for step in steps}
        if not (good := good_enough(quality, psnr)):
            raise InputError(f"no snapshot reaches {psnr:g} dB: the best has {max(quality.values()):.1f} dB.")
        measured = {step: measure(run.at(step), chosen) for step in good}
        best = [best_step(rule, {step: found[each] for step, found in measured.items()}) for each in rule.scores]
        for each, step in zip(rule.scores, best, strict=True):
            if step is None:
                raise InputError(f"{each} is not a number for any snapshot.")
        if best[0] is not None:
            run = run.at(best[0])
    measure(run, metrics)


def applicable(metrics: Sequence[str], run: Run, data: FactorData, source: Source) -> list[str]:
    """Return the metrics of a study that can be computed for a run; an autoencoder has no ELBO, for example.

    Args:
        metrics: The metrics of the study.
        run: The run.
        data: The data that it is scored on.
        source: Where images that share a factor are taken from.

    Returns:
        The names of the metrics.
    """
    there = ScoringInputs.of_data(data, run.offers, source=source)
    return [metric.name for metric in find_metrics(metrics) if there.why_not(metric) is None] if metrics else []


def record_failure(folder: Path, configuration: Configuration, error: BaseException) -> None:
    """Record a failure in the folder of a run, unless training has recorded it already."""
    text = "".join(traceback.format_exception(error))
    with locked(folder):
        state = read_state(folder)
        if state is None:
            write_configuration(folder, configuration)
            write_state(folder, State("failed", 0, versions(), error=f"{error}", traceback=text))
        elif state.status == "finished":  # trained, but not scored
            (folder / SCORING_ERROR).write_text(text, encoding="utf-8")


def record_lost(task: Task, error: str) -> bool:
    """Record that a run failed because its worker was killed again and again.

    Returns False if another launcher has trained and scored the run meanwhile.
    """
    configuration = Configuration(**task.fields)
    with (
        checked_out(task.store, configuration.name, patience=task.patience) as checkout,
        locked(folder := checkout.store / configuration.name),
    ):
        state = read_state(folder)
        step, seconds = (state.step, state.seconds) if state else (0, 0.0)
        if state is not None and state.status == "finished":
            record = read_record(folder)
            if {one.metric for one in record.measured} | {*record.left_out} >= {*task.metrics}:
                return False
            (folder / SCORING_ERROR).write_text(f"{error}\n", encoding="utf-8")
            return True
        write_configuration(folder, configuration)
        write_state(folder, State("failed", step, versions(), seconds, error=error))
    return True


def work(connection: Any, environment: Mapping[str, str]) -> None:
    """Run in a worker process: take tasks from the launcher until it closes the connection or dies."""
    os.environ.update(environment)
    import torch

    torch.set_num_threads(1)
    set_level("quiet")
    show_warnings_as_notes()
    stop_with_parent()
    worker = Worker()
    with suppress(EOFError, OSError):  # the launcher has died
        connection.send(READY)
        while (task := connection.recv()) is not None:
            connection.send(worker.carry_out(task))


def stop_with_parent() -> None:
    """End this process as SIGTERM would, with a checkpoint, if the launcher dies."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(POLL)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="watch the launcher", daemon=True).start()
