"""The estimated duration of a study: from its finished runs if there are any, otherwise from a few measured steps."""

from __future__ import annotations

import copy
import inspect
import itertools
import json
import math
import multiprocessing
import os
import platform
import statistics
import tempfile
import time
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from unweave.data import Card, DataIdentity, FactorData, data_folder, space_of
from unweave.errors import InputError, Unavailable
from unweave.factors import FactorSpace
from unweave.metrics import Metric
from unweave.metrics.scoring.request import find_metrics
from unweave.store.files import versions, write_text
from unweave.study.engines.processes import single_threaded
from unweave.study.table import Row
from unweave.training import Configuration

if TYPE_CHECKING:
    from unweave.training import Moment

STEPS, SECONDS = 20, 1.0  # of one measurement, whichever comes first
SKIPPED = 2  # first steps, which allocate memory
BUDGET = 10.0  # seconds for all measurements of steps
SCORE_BUDGET = 20.0  # more seconds if scoring is measured, which comes last
SHARE, LEAST_SAMPLES = 10, 200  # of the samples that scoring is measured with, and at least so many
COUNTS = ("pairs", "points", "test", "train", "traversals")  # settings of metrics that draw points themselves
WARM_SAMPLES = 50  # of a first scoring that is not counted, because it imports and compiles
MOST_PATIENCE = 5.0  # times the budget on a machine with much else to do
PATIENCE = 60.0  # seconds until the first one, which waits for imports
SPEEDS = "speeds.json"  # measurements of this machine, in the data folder
LASTING = 7 * 24 * 3600.0  # seconds after which a measurement is made again
SPACE = FactorSpace.of(**{f"factor{number}": 4 for number in range(6)})  # where the factors are not known


@dataclass(frozen=True)
class Estimate:
    """The time that the remaining runs of a study need, of one worker."""

    seconds: float  # of training
    runs: int
    kinds: int  # of runs that differ in the cost of a step
    measured: int  # of these; the cost of others is taken to be the mean of the measured ones
    scoring: float | None = 0.0  # seconds, None if the cost of scoring is not known


@dataclass(frozen=True)
class ScoringCost:
    """All that the cost of scoring a run depends on: the metrics, how they are measured, and how many runs are left."""

    metrics: tuple[str, ...]
    protocol: dict[str, Any]  # the fields of a Scoring
    runs: int

    def kind(self, configuration: Configuration) -> str:
        """Return the name under which the cost is kept."""
        c, p = configuration, self.protocol
        shape = "×".join(map(str, c.data.shape))
        settings = json.dumps(p["settings"], sort_keys=True)
        asked = f"{','.join(self.metrics)} {p['samples']}+{p['test_samples']} {settings}"
        return f"scoring {shape} {c.net.name} {type(c.latent).__name__} {c.latent.size} {asked}"


def kind_of(configuration: Configuration) -> str:
    """Return what determines the cost of a step: the shape of the images, the net, the latent, the terms, the batch."""
    c = configuration
    terms = "+".join(sorted(weighted.name for weighted in c.terms))
    net = ",".join(f"{key}={value}" for key, value in sorted(c.net.model_dump(mode="json").items()))
    parts = ("×".join(map(str, c.data.shape)), net, type(c.latent).__name__, c.latent.size, terms, c.batch, c.precision)
    return " ".join(map(str, (*parts, "pairs" if c.grouping else "", c.linear or ""))).strip()


def estimate(
    remaining: Iterable[tuple[Configuration, int]],
    rows: Iterable[tuple[Configuration, Row]],
    *,
    measure: bool = True,
    scoring: ScoringCost | None = None,
) -> Estimate | None:
    """Estimate the time of the runs of a study that are left.

    Args:
        remaining: Their configurations, each with the steps that it has left.
        rows: Runs of the study in the store: the finished ones tell the cost of a step of their kind.
        measure: Whether what they do not tell, and no earlier measurement on this machine, is measured now, within
            seconds.
        scoring: What is scored; its cost is measured on the model of one of the runs, with a tenth of the samples.

    Returns:
        The estimate, None if nothing is known.
    """
    steps: dict[str, int] = {}
    example: dict[str, Configuration] = {}
    runs = 0
    for configuration, left in remaining:
        kind = kind_of(configuration)
        runs += 1
        steps[kind] = steps.get(kind, 0) + (0 if configuration.linear else left)
        example.setdefault(kind, configuration)
    speeds = {**_kept(), **_of_finished(rows)}
    unknown = sorted((kind for kind in steps if steps[kind] and kind not in speeds), key=lambda kind: -steps[kind])
    scored = next(iter(example.values()), None) if scoring is not None and scoring.metrics else None
    score_kind = scoring.kind(scored) if scoring is not None and scored is not None else ""
    examples, costs = {kind: example[kind] for kind in unknown}, {}
    if scoring is not None and scored is not None and score_kind not in speeds:
        examples[score_kind], costs[score_kind] = scored, scoring
    if examples and measure:
        new = _measure(examples, costs)
        _keep(new)
        speeds |= new
    known = [kind for kind in steps if kind in speeds]
    if not known:
        return None
    mean = sum(speeds[kind] for kind in known) / len(known)
    total = sum(count * speeds.get(kind, mean) for kind, count in steps.items())
    seconds = speeds.get(score_kind) if score_kind else 0.0
    cost = None if seconds is None or scoring is None else seconds * scoring.runs
    return Estimate(total, runs, len(steps), len(known), 0.0 if scoring is None else cost)


def scoring_seconds(configuration: Configuration, cost: ScoringCost) -> float | None:
    """Return the seconds that scoring one run takes on this machine, None if it was not measured yet."""
    return _kept().get(cost.kind(configuration)) if cost.metrics else 0.0


@dataclass(frozen=True)
class Progress:
    """The progress of a run that is under way."""

    step: int  # of its training
    taken: int  # steps since it has been watched
    seconds: float  # in which they were taken


class Pace:
    """The time that runs under way and waiting still need, from those that ended and from the steps of the others."""

    def __init__(self, scoring: float | None = 0.0) -> None:
        """``scoring`` is the cost of scoring a run in seconds, None if it is not known before one has ended."""
        self._scoring = scoring
        self._kinds: dict[str, tuple[str, int]] = {}  # kind and steps of the runs that are left
        self._spent: dict[str, list[float]] = {}  # seconds and steps of the runs that ended, by kind

    def expect(self, runs: Mapping[str, Configuration]) -> None:
        """Set the runs that are left."""
        self._kinds = {name: (kind_of(c), 1 if c.linear else c.steps) for name, c in runs.items()}

    def end(self, name: str, seconds: float) -> None:
        """Note the duration of a run that ended; 0 if it tells nothing about the others."""
        kind, steps = self._kinds.pop(name, ("", 0))
        if seconds > 0 and steps:
            spent = self._spent.setdefault(kind, [0.0, 0.0])
            spent[0] += max(0.0, seconds - (self._scoring or 0.0))  # of steps, and of scoring if its cost is not known
            spent[1] += steps

    def left(self, under_way: Mapping[str, Progress]) -> float | None:
        """Return the seconds of one worker that are left, None if no run has ended or taken a step yet.

        The cost of a step is that of the runs of the same kind that ended; if none has, that of the runs of the kind
        that are under way; if there are none, the mean of the other kinds. If the cost of scoring is not known, only
        runs that ended count, whose steps include it, and the time that a run has taken is subtracted.
        """
        speeds = self._speeds(under_way)
        if not speeds or (self._scoring is None and not self._spent):
            return None
        mean = statistics.mean(speeds.values())
        total = 0.0
        for name, (kind, steps) in self._kinds.items():
            progress, speed = under_way.get(name, Progress(0, 0, 0.0)), speeds.get(kind, mean)
            if self._scoring is None:
                total += max(0.0, (steps - progress.step + progress.taken) * speed - progress.seconds)
            else:
                total += max(0, steps - progress.step) * speed + self._scoring
        return total

    def training_left(self, under_way: Mapping[str, Progress]) -> float | None:
        """Return the same without scoring, which is known earlier: as soon as a run has taken a step."""
        pace = copy.copy(self)
        pace._scoring = 0.0
        return pace.left(under_way)

    def _speeds(self, under_way: Mapping[str, Progress]) -> dict[str, float]:
        """Return the seconds per step, by kind."""
        seen: dict[str, list[float]] = {}
        for name, progress in under_way.items():
            if name in self._kinds and progress.taken > 0:
                seen.setdefault(self._kinds[name][0], []).append(progress.seconds / progress.taken)
        ended = {kind: seconds / steps for kind, (seconds, steps) in self._spent.items()}
        begun = {} if self._scoring is None else {kind: statistics.mean(costs) for kind, costs in seen.items()}
        return begun | ended


def _of_finished(rows: Iterable[tuple[Configuration, Row]]) -> dict[str, float]:
    """Return the mean seconds per step of finished runs, by kind."""
    sums: dict[str, tuple[float, int]] = {}
    for configuration, row in rows:
        if row.state == "finished" and row.seconds > 0 and row.step:
            seconds, count = sums.get(kind_of(configuration), (0.0, 0))
            sums[kind_of(configuration)] = (seconds + row.seconds, count + row.step)
    return {kind: seconds / count for kind, (seconds, count) in sums.items()}


def _measure(examples: Mapping[str, Configuration], scoring: Mapping[str, ScoringCost]) -> dict[str, float]:
    """Measure the seconds per step, or of scoring, of each kind in a process of one thread, as the budget allows."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    fields = {kind: json.loads(configuration.model_dump_json()) for kind, configuration in examples.items()}
    process = context.Process(target=measure_all, args=(there, fields, dict(scoring), BUDGET), daemon=True)
    with single_threaded():
        process.start()
    there.close()
    measured: dict[str, float] = {}
    end = time.monotonic() + PATIENCE
    with suppress(EOFError, OSError):
        while len(measured) < len(fields) and here.poll(max(0.0, end - time.monotonic())):
            kind, seconds = here.recv()
            if seconds and not measured:
                end = time.monotonic() + _patience() * (BUDGET + SCORE_BUDGET * bool(scoring))
            if seconds:
                measured[kind] = seconds
    process.kill()
    process.join()
    return measured


def _patience() -> float:
    """Return how many processes wait for each core, between 1 and a limit; 1 where the system does not say."""
    load = os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else 1.0
    return min(max(load, 1.0), MOST_PATIENCE)


def measure_all(
    connection: Connection, fields: Mapping[str, dict[str, Any]], scoring: Mapping[str, ScoringCost], budget: float
) -> None:
    """Send the seconds per step, or of scoring, of each configuration; run in a process of its own.

    Args:
        connection: Where each kind is sent with its seconds, None if it failed.
        fields: The configurations by kind, as JSON.
        scoring: What is scored, of those kinds whose scoring is measured.
        budget: Seconds, after the first kind, in which steps are measured; kinds that are left then are skipped.
    """
    from unweave.progress import set_level

    set_level("quiet")
    end = math.inf
    for kind, given in fields.items():
        configuration, cost = Configuration(**given), scoring.get(kind)
        if cost is None and time.monotonic() > end:
            continue
        seconds = seconds_per_step(configuration) if cost is None else seconds_of_scoring(configuration, cost)
        connection.send((kind, seconds))
        end = min(end, time.monotonic() + budget)


def seconds_per_step(configuration: Configuration) -> float | None:
    """Train a few steps on random images of the right shape and return the median time of a step.

    The data itself is not needed: its files need not be on this machine, and reading a batch costs little. Returns None
    if the run fails.
    """
    from unweave.training import Execution, fit
    from unweave.training.loop import Callback

    times: list[float] = []

    def note(moment: Moment) -> None:
        times.append(time.monotonic())
        if moment.step > STEPS or times[-1] - times[0] > SECONDS:
            raise _Enough

    execution = Execution(threads=1, device="cpu", log_steps=10**6)
    with tempfile.TemporaryDirectory() as folder:
        try:
            fit(configuration, execution, Noise(configuration.data.shape), Path(folder), callback=Callback(note, 1))
        except _Enough:
            pass
        except Exception:  # which the run itself will report
            return None
    counted = times[SKIPPED:] if len(times) > SKIPPED + 1 else times
    gaps = [after - before for before, after in itertools.pairwise(counted)]
    return statistics.median(gaps) if gaps else None


def seconds_of_scoring(configuration: Configuration, cost: ScoringCost) -> float | None:
    """Score a model of this configuration on random images with a tenth of the points; return ten times the duration.

    Returns None if that fails.
    """
    from unweave.study.engines.worker import applicable
    from unweave.training import Execution, fit, score

    fields = {name: getattr(configuration, name) for name in Configuration.model_fields}
    noise, p = Noise(configuration.data.shape, _factors(configuration.data)), cost.protocol
    counts = {key: max(LEAST_SAMPLES, p[key] // SHARE) for key in ("samples", "test_samples")}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of too few samples, which the study has more of
        try:
            short = Configuration(**{**fields, "steps": 1, "snapshots": 0})
            run = fit(short, Execution(threads=1, device="cpu"), noise, Path(folder))
            names = applicable(cost.metrics, run, noise, p["source"])
            settings = {each.name: _fewer(each, p["settings"].get(each.name, {})) for each in find_metrics(names)}
            asked = {"metrics": names, "settings": settings, "workers": 1, "source": p["source"]}
            with suppress(InputError):  # too few samples for a metric
                score(run, noise, **asked, samples=WARM_SAMPLES, test_samples=WARM_SAMPLES)
            began = time.monotonic()
            score(run, noise, **asked, **counts)
        except Exception:  # which the run itself will report
            return None
    share: float = counts["samples"] / p["samples"]
    return (time.monotonic() - began) / min(1.0, share)


def _fewer(metric: Metric, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with a tenth of the points where a metric draws its own, whatever the number of samples."""
    if metric.needs not in ("pool", "intervention"):
        return dict(settings)
    values = {name: each.default for name, each in inspect.signature(metric.signed).parameters.items()}
    values |= settings
    counts = [name for name in ("neighbourhoods",) if name in values] or [name for name in COUNTS if name in values]
    return {**settings, **{name: max(1, values[name] // SHARE) for name in counts}}


def _factors(identity: DataIdentity) -> FactorSpace:
    """Return the factors of the data, whose number and values the cost of scoring depends on, or else some others."""
    with suppress(InputError, Unavailable):  # which the run itself will report
        return space_of(identity) or SPACE
    return SPACE


class _Enough(Exception):
    """Raised to end a measurement."""


def _machine() -> str:
    return f"{platform.node()}, {os.cpu_count()} cores, {versions()}"


def _kept() -> dict[str, float]:
    """Return the earlier measurements on this machine that are not too old."""
    return {kind: seconds for kind, (seconds, when) in _read().items() if time.time() - when < LASTING}


def _read() -> dict[str, tuple[float, float]]:
    try:
        kept = json.loads((data_folder() / SPEEDS).read_text(encoding="utf-8"))[_machine()]
        return {kind: (float(seconds), float(when)) for kind, (seconds, when) in kept.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _keep(measured: Mapping[str, float]) -> None:
    speeds = {**_read(), **{kind: (seconds, time.time()) for kind, seconds in measured.items()}}
    path = data_folder() / SPEEDS
    with suppress(OSError):  # without it, the next estimate measures again
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps({_machine(): speeds}, indent=1, ensure_ascii=False) + "\n")


class Noise(FactorData):
    """Random images with random factors."""

    name = "noise"

    def __init__(self, shape: tuple[int, int, int], space: FactorSpace = SPACE) -> None:
        self.shape = shape
        self.card = Card("random images", space, shape, "MIT", "none", "none")
        generator = torch.Generator().manual_seed(0)
        self._images = torch.randint(256, (256, *shape), dtype=torch.uint8, generator=generator)

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        return self._images[self.space.index(factors) % len(self._images)]
