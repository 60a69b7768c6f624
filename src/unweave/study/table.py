"""The rows of a study's table: what the store has of each run."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unweave.names import POOLED
from unweave.plain_json import to_plain
from unweave.store.record import SCORING_ERROR, Record
from unweave.store.scores import read_protocol, source_of
from unweave.study.selection import best_step, good_enough, metric_of
from unweave.study.spec import SnapshotRule, Spec


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
    snapshots: dict[str, int] = field(default_factory=dict)  # the steps that were scored by a rule, by the score of it

    def flat(self) -> dict[str, Any]:
        """Return the row as one dictionary for a data frame, without the configuration."""
        known = {"run": self.run, "state": self.state, "step": self.step, "seconds": self.seconds, "psnr": self.psnr}
        several = len(self.snapshots) > 1
        steps = {f"snapshot of {score}" if several else "snapshot": step for score, step in self.snapshots.items()}
        return {**known, **self.settings, **steps, **self.scores, "error": self.error}


@dataclass(frozen=True)
class Chosen:
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
        self._protocols = {
            metric: {
                **shared,
                "settings": to_plain(score.settings.get(metric, {})),
                **({"source": source_of(metric, score.source)} if metric in POOLED else {}),
            }
            for metric in spec.metrics
        }
        self._matching: dict[tuple[str, str], tuple[bool, int | None, str | None]] = {}  # by metric and protocol

    def chosen(self, record: Record, settings: dict[str, Any]) -> Chosen:
        """Return what was measured of a run as asked."""
        measured: dict[int, dict[str, dict[str, float]]] = {}  # by step and metric
        for metric, protocol, numbers in record.measured:
            matches, step, data = self._match(metric, protocol)
            if matches and data in (None, record.data_name):
                measured.setdefault(record.step if step is None else step, {})[metric] = numbers
        if self._rule is None:
            return self._taken(measured, dict.fromkeys(self.metrics, record.step), {})
        best = self._snapshots(self._rule, measured, settings)
        if best is None:
            return Chosen({}, self.metrics, {})
        steps = dict.fromkeys(self.metrics, next(iter(best.values())))  # the first score chooses for other metrics
        steps |= {metric_of(score, self.metrics): step for score, step in reversed(best.items())}
        return self._taken(measured, steps, best)

    def _taken(
        self, measured: dict[int, dict[str, dict[str, float]]], steps: dict[str, int], best: dict[str, int]
    ) -> Chosen:
        """Return the scores of each metric at its step, and those that chose a snapshot at theirs."""
        scores: dict[str, float] = {}
        for metric, step in steps.items():
            scores |= measured.get(step, {}).get(metric, {})
        for score, step in best.items():
            scores[score] = measured[step][metric_of(score, self.metrics)][score]
        missing = [metric for metric, step in steps.items() if metric not in measured.get(step, {})]
        return Chosen(scores, tuple(missing), best)

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
        _why_not_scored(record.folder) if failed else record.error,
        chosen.scores,
        missing,
        chosen.snapshots,
    )


def _why_not_scored(folder: Path) -> str:
    """Return the last line of the traceback of a run that could not be scored."""
    try:
        lines = (folder / SCORING_ERROR).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return f"scoring failed: {lines[-1].rpartition('Error: ')[2]}" if lines else "scoring failed"
