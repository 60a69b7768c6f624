"""The progress of a run in training: its state, the curves of its terms, and the remaining time."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

from unweave.explore.open_runs import weights_version
from unweave.latents.latent import evenly
from unweave.store.folder import LOG, read_fields
from unweave.store.log import read_log
from unweave.store.state import read_state, status_of

POINTS = 400  # of one curve


class ProgressReader:
    """Remembers when which step of a run was seen, because a log has no times."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[float, int]] = {}  # the first time and step that were seen of a run in training

    def read(self, folder: Path) -> dict[str, Any]:
        """Return the progress of a run; see ``static/source.js`` for its fields."""
        state, fields = read_state(folder), read_fields(folder)
        status = status_of(folder, state)
        lines = read_log(folder / LOG)
        step = max(state.step if state else 0, lines[-1]["step"] if lines else 0)
        planned = fields.get("steps")
        steps = planned if isinstance(planned, int) else step
        left = None
        if status == "running":
            left = self._seconds_left(
                folder.name, step, steps, state.step if state else 0, state.seconds if state else 0
            )
        else:
            self._seen.pop(folder.name, None)
        return {
            "state": status,
            "step": step,
            "steps": steps,
            "secondsLeft": left,
            "checkpoint": str(weights_version(folder)),
            "curves": curves(lines),
            "psnr": state.psnr if state else None,
            "error": state.error if state else "",
        }

    def _seconds_left(self, name: str, step: int, steps: int, recorded: int, seconds: float) -> float | None:
        """Estimate from the steps that were seen passing, else from the last checkpoint; None if nothing is known."""
        now = time.monotonic()
        began, first = self._seen.setdefault(name, (now, step))
        if step < first:  # the run was started again
            began, first = self._seen[name] = (now, step)
        if step > first and now > began:
            rate = (step - first) / (now - began)
        elif recorded and seconds:
            rate = recorded / seconds
        else:
            return None
        return max(0.0, (steps - step) / rate)


def curves(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the values of every term against the step, thinned to a few hundred points; the loss comes first."""
    names = dict.fromkeys(name for line in lines for name in line if name != "step")
    found = []
    for name in sorted(names, key=lambda name: (name != "loss", list(names).index(name))):
        points = [[line["step"], line[name]] for line in lines if math.isfinite(line.get(name, math.nan))]
        if points:
            found.append({"name": name, "points": [points[i] for i in evenly(len(points), POINTS).tolist()]})
    return found
