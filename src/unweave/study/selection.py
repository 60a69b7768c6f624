"""Selection by a stated rule: which snapshot of a run is scored, and which settings go on to the second stage."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from unweave.errors import InputError
from unweave.study.spec import Selection, SnapshotRule

if TYPE_CHECKING:
    from unweave.study.table import Row


def select(rule: Selection, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the settings, without the seed, with the best score in each group (Hsu et al. 2024, sec. 4.1).

    The score is the mean or median over the seeds of the first stage. Runs that failed have no score; settings all of
    whose runs failed cannot be chosen.
    """
    scores: dict[str, list[float]] = {}
    settings: dict[str, dict[str, Any]] = {}
    for row in rows:
        alone = {key: value for key, value in row.settings.items() if key != "seed"}
        value = row.scores.get(rule.by)
        if value is None:
            if row.state == "finished":
                raise InputError(
                    f"[select] by {rule.by}: run {row.run} has no such score, it has {sorted(row.scores)}."
                )
            continue
        scores.setdefault(repr(sorted(alone.items())), []).append(value)
        settings.setdefault(repr(sorted(alone.items())), alone)
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
