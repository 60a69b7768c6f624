"""Which snapshot of a run is scored, in a study that does not score the final weights (Hsu et al. 2024, sec. 4.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from unweave.study.spec import SnapshotRule


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
