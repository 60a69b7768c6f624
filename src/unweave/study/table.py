"""The rows of a study's table: what the store has of each run; selection by a stated rule, and UDR over seeds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from unweave.data import open_data
from unweave.errors import InputError, whole
from unweave.metrics import METRICS, udr
from unweave.metrics.scoring.catalogue import source_of
from unweave.plain_json import to_plain
from unweave.store.measurements import read_protocol
from unweave.store.record import Record
from unweave.study.spec import Selection, SnapshotRule, Spec

if TYPE_CHECKING:
    from unweave.study.study import Study


@dataclass(frozen=True)
class Row:
    """One run of a study.

    Examples:
        >>> import unweave
        >>> row = unweave.Study("tripod/lite", store="runs").rows()[0]
        >>> row.state, row.scores
        ('not started', {})
    """

    run: str
    settings: dict[str, Any]
    state: str  # finished, failed, interrupted, running, stopped, not started, damaged, other version
    step: int = 0
    seconds: float = 0.0
    psnr: float | None = None
    error: str = ""
    scores: dict[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()  # metrics of the study that were not measured yet
    snapshots: dict[str, int] = field(default_factory=dict)  # the steps that were scored by a rule, by the score of it

    def flat(self) -> dict[str, Any]:
        """Return the row as one dictionary for a data frame, without the configuration."""
        known = {"run": self.run, "state": self.state, "step": self.step, "seconds": self.seconds, "psnr": self.psnr}
        several = len(self.snapshots) > 1
        steps = {f"snapshot of {score}" if several else "snapshot": step for score, step in self.snapshots.items()}
        return {**known, **self.settings, **steps, **self.scores, "error": self.error}


@dataclass(frozen=True)
class StudyMeasurements:
    """The measurements of a run that a study asks for."""

    scores: dict[str, float]
    missing: tuple[str, ...]  # metrics
    snapshots: dict[str, int]  # the steps that were scored, by score, if there is a rule for snapshots


class Protocols:
    """The measurements that a study asks for: its metrics, with a protocol each, of final weights or of a snapshot."""

    def __init__(self, spec: Spec, *, stage: int = 1) -> None:
        score = spec.scoring_of(stage)
        shared = {"samples": score.samples, "test_samples": score.test_samples, "seed": score.seed}
        self.metrics = spec.metrics
        self._rule = score.snapshot
        pooled = {name for name, metric in METRICS.items() if metric.needs == "pool"}
        self._protocols = {
            metric: {
                **shared,
                "settings": to_plain(score.settings.get(metric, {})),
                **({"source": source_of(metric, score.source)} if metric in pooled else {}),
            }
            for metric in spec.metrics
        }
        self._matching: dict[tuple[str, str], tuple[bool, int | None, str | None]] = {}  # by metric and protocol

    def chosen(self, record: Record, settings: dict[str, Any]) -> StudyMeasurements:
        """Return what was measured of a run as asked."""
        measured: dict[int, dict[str, dict[str, float]]] = {}  # by step and metric
        for metric, protocol, numbers, _ in record.measured:
            matches, step, data = self._match(metric, protocol)
            if matches and data in (None, record.data_name):
                measured.setdefault(record.step if step is None else step, {})[metric] = numbers
        if self._rule is None:
            return self._taken(measured, dict.fromkeys(self.metrics, record.step), {})
        best = self._snapshots(self._rule, measured, settings)
        if best is None:
            return StudyMeasurements({}, self.metrics, {})
        steps = dict.fromkeys(self.metrics, next(iter(best.values())))  # the first score chooses for other metrics
        steps |= {metric_of(score, self.metrics): step for score, step in reversed(best.items())}
        return self._taken(measured, steps, best)

    def _taken(
        self, measured: dict[int, dict[str, dict[str, float]]], steps: dict[str, int], best: dict[str, int]
    ) -> StudyMeasurements:
        """Return the scores of each metric at its step, and those that chose a snapshot at theirs."""
        scores: dict[str, float] = {}
        for metric, step in steps.items():
            scores |= measured.get(step, {}).get(metric, {})
        for score, step in best.items():
            scores[score] = measured[step][metric_of(score, self.metrics)][score]
        missing = [metric for metric, step in steps.items() if metric not in measured.get(step, {})]
        return StudyMeasurements(scores, tuple(missing), best)

    def _snapshots(
        self, rule: SnapshotRule, measured: dict[int, dict[str, dict[str, float]]], settings: dict[str, Any]
    ) -> dict[str, int] | None:
        """Return the step of the snapshot that counts for each score of the rule, None if not all were measured."""
        least, metrics = rule.psnr.get(str(settings["data"])), {metric_of(name, self.metrics) for name in rule.scores}
        needed = metrics if least is None else {"psnr"}
        known = [step for step, found in measured.items() if needed <= found.keys()]
        good = good_enough(
            {step: math.inf if least is None else measured[step]["psnr"]["psnr"] for step in known}, least
        )
        if len(known) < settings["snapshots"] or any(not metrics <= measured[step].keys() for step in good):
            return None
        steps = {
            score: best_step(rule, {step: measured[step][metric_of(score, self.metrics)][score] for step in good})
            for score in rule.scores
        }
        best = {score: step for score, step in steps.items() if step is not None}
        return best if len(best) == len(steps) else None

    def _match(self, metric: str, protocol: str) -> tuple[bool, int | None, str | None]:
        """Return whether a protocol is the one that was asked for, its step and its data."""
        known = self._matching.get((metric, protocol))
        if known is None:
            asked, measured = self._protocols.get(metric), read_protocol(protocol)
            matches = asked is not None and all(measured.get(key) == value for key, value in asked.items())
            known = self._matching[metric, protocol] = (matches, measured.get("step"), measured.get("data"))
        return known


def row_of(record: Record, settings: dict[str, Any], protocols: Protocols) -> Row:
    """Return the row of a run: what was recorded, as the study asks for it."""
    if not record.status or not record.is_readable:
        return Row(record.name, settings, record.state, error=record.error, missing=protocols.metrics)
    chosen = protocols.chosen(record, settings)
    missing = tuple(name for name in chosen.missing if name not in record.left_out)
    failed = record.scoring_failed and bool(missing)
    return Row(
        record.name,
        settings,
        "failed" if failed else record.state,
        record.step,
        record.seconds,
        record.psnr,
        f"scoring failed: {record.scoring_error}".removesuffix(": ") if failed else record.error,
        chosen.scores,
        missing,
        chosen.snapshots,
    )


def select(rule: Selection, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the settings, without the seed, with the best score in each group (Hsu et al. 2024, sec. 4.1).

    The score is the mean or median over the seeds of the first stage. Runs that failed have no score; settings all of
    whose runs failed cannot be chosen.
    """
    scores: dict[str, list[float]] = {}
    settings: dict[str, dict[str, Any]] = {}
    for row in rows:
        key = _without_seed(row)
        value = row.scores.get(rule.by)
        if value is None:
            if row.state == "finished":
                raise InputError(
                    f"[select] by {rule.by}: run {row.run} has no such score, it has {sorted(row.scores)}."
                )
            continue
        scores.setdefault(key, []).append(value)
        settings.setdefault(key, {name: value for name, value in row.settings.items() if name != "seed"})
    mean = statistics.mean if rule.over_seeds == "mean" else statistics.median
    sign = 1 if rule.best == "highest" else -1
    best: dict[tuple[Any, ...], tuple[float, str]] = {}
    for key, values in scores.items():
        group = tuple(repr(settings[key].get(name)) for name in rule.per)
        value = sign * float(mean(values))
        if group not in best or value > best[group][0]:
            best[group] = (value, key)
    return [settings[key] for _, key in best.values()]


def metric_of(score: str, metrics: Sequence[str]) -> str:
    """Return the metric that measures a score such as ``infomec.modularity``."""
    return score if score in metrics else score.partition(".")[0]


def good_enough(quality: Mapping[int, float], psnr: float | None) -> list[int]:
    """Return the steps of the snapshots with at least this PSNR, in dB; of all if it is None."""
    return [step for step, value in sorted(quality.items()) if psnr is None or value >= psnr]


def best_step(rule: SnapshotRule, scores: Mapping[int, float]) -> int | None:
    """Return the step of the best snapshot, the first of equal ones; None if no score is a number."""
    sign = 1 if rule.best == "highest" else -1
    numbers = {step: sign * value for step, value in sorted(scores.items()) if not math.isnan(value)}
    return max(numbers, key=numbers.__getitem__) if numbers else None


def udr_of(study: Study, *, samples: int = 1_000, seed: int = 0) -> dict[str, float]:
    """Return the UDR of each finished run by name (Duan et al. 2020), for settings with at least two finished seeds.

    Runs with the same settings encode the same ``samples`` random images. UDR depends on the other seeds, so it is
    recomputed rather than stored.
    """
    samples = whole("samples", samples, at_least=10)
    groups: dict[str, list[str]] = {}
    for row in study.rows():
        if row.state == "finished":
            groups.setdefault(_without_seed(row), []).append(row.run)
    planned = {run.name: run for run in study.all_planned()}
    found: dict[str, float] = {}
    for names in map(sorted, map(set, groups.values())):
        if len(names) < 2:
            continue
        runs = [study.open(planned[name]) for name in names]
        generator = torch.Generator().manual_seed(seed)
        images = open_data(runs[0].configuration.data).sample(samples, generator).images
        result = udr([run.encode(images).numpy() for run in runs])
        found |= dict(zip(names, map(float, result.per_model), strict=True))
    return found


def _without_seed(row: Row) -> str:
    """Return a key that rows share if they differ in the seed only."""
    return repr(sorted((name, value) for name, value in row.settings.items() if name != "seed"))
