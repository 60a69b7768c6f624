"""The rows of a study's table: what the store says of each run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unweave.errors import InputError, Unavailable
from unweave.metrics import Scores
from unweave.plain_json import to_plain
from unweave.study.spec import Spec
from unweave.training.scores import StoredScores, read_scores
from unweave.training.store import read_fields, read_state, status_of

LEFT_OUT = "not-applicable.json"  # metrics of a study that cannot be computed for a run


@dataclass(frozen=True)
class Row:
    """One run of a study."""

    run: str
    settings: dict[str, Any]
    state: str  # finished, failed, interrupted, running, stopped, not started, damaged
    step: int = 0
    seconds: float = 0.0
    psnr: float | None = None
    error: str = ""
    scores: dict[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()  # metrics of the study that were not measured yet
    configuration: dict[str, Any] = field(default_factory=dict)

    def flat(self) -> dict[str, Any]:
        """Return the row as one dictionary for a data frame; settings of the configuration have dots."""
        known = {"run": self.run, "state": self.state, "step": self.step, "seconds": self.seconds, "psnr": self.psnr}
        flat = {f"configuration.{key}": value for key, value in _flat(self.configuration).items()}
        return {**known, **self.settings, **self.scores, "error": self.error, **flat}


def read_row(folder: Path, settings: dict[str, Any], spec: Spec) -> Row:
    """Read what the store has of a run."""
    try:
        state = read_state(folder)
        status = status_of(folder, state)
        if state is None:
            return Row(folder.name, settings, status, missing=spec.metrics)
        fields = read_fields(folder)
        stored = read_scores(folder)
    except (Unavailable, InputError) as error:
        return Row(folder.name, settings, "damaged", error=str(error), missing=spec.metrics)
    measured, missing = _measured(stored, spec)
    missing = tuple(name for name in missing if name not in _left_out(folder))
    failed = (folder / "scoring-error.txt").exists()
    return Row(
        folder.name,
        settings,
        "failed" if failed and missing else status,
        state.step,
        state.seconds,
        state.psnr,
        "scoring failed" if failed and missing else state.error,
        measured,
        missing,
        fields,
    )


def _left_out(folder: Path) -> list[str]:
    """Return the metrics that cannot be computed for a run, as its worker has recorded."""
    try:
        return list(json.loads((folder / LEFT_OUT).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return []


def _measured(stored: StoredScores, spec: Spec) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the scores that were measured as the study asks, and the metrics that are missing."""
    numbers: dict[str, float] = {}
    missing = []
    for metric in spec.metrics:
        settings = to_plain(spec.score.settings.get(metric, {}))
        protocol = {"samples": spec.score.samples, "test_samples": spec.score.test_samples, "seed": spec.score.seed}
        found = stored.select(**protocol, settings=settings)
        entries = [entry for entry in found.entries if entry.metric == metric]
        if entries:
            numbers |= Scores({metric: StoredScores(entries[-1:])[metric]}).table
        else:
            missing.append(metric)
    return numbers, tuple(missing)


def _flat(fields: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in fields.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
