"""The second stage of a study: choose settings by a stated rule on the first stage's seeds."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from unweave.errors import InputError
from unweave.study.spec import Selection
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
