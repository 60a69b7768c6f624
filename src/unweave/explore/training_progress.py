"""The progress of a run in training: its state, the curves of its terms, and the remaining time; that of a study."""

from __future__ import annotations

import math
import shlex
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

from unweave.data import data_folder
from unweave.explore.open_runs import weights_version
from unweave.explore.run_selection import Selection
from unweave.latents.latent import evenly
from unweave.names import spelled, words
from unweave.store.folder import LOG, read_label
from unweave.store.lock import is_beating, machine, trainer_of
from unweave.store.record import Record, read_record
from unweave.store.state import read_log
from unweave.zoo import PREFIX

TRAIN = ("repeat or continue it", "unweave train --from")  # on a run, can be copied from its page
OF_WEIGHTS = (("score it", "unweave score"), ("write a report", "unweave report"))  # offered once the run has weights
POINTS = 400  # of one curve
ESTIMATED = 5.0  # seconds between two estimates of a study
LAST = 6  # steps whose time is known, from which the remaining time is estimated


class ProgressReader:
    """Remembers when which step of a run was seen, because a log has no times."""

    def __init__(self) -> None:
        self._seen: dict[str, deque[tuple[float, int]]] = {}  # the last times and steps of runs in training
        self._first: dict[str, int] = {}  # the step at the first look, which was reached some time before it

    def read(self, folder: Path) -> dict[str, Any]:
        """Return the progress of a run; see ``static/source.js`` for its fields."""
        record, lines = read_record(folder, scores=False), read_log(folder / LOG)
        state = record.state
        step = max(record.step, lines[-1]["step"] if lines else 0)
        planned = record.fields.get("steps")
        steps = planned if isinstance(planned, int) else step
        version = weights_version(folder)
        commands = (TRAIN, *(OF_WEIGHTS if version else ()))
        of_run = _in_commands(folder)
        left = None
        if state == "running":
            left = self._seconds_left(folder.name, step, steps, record.step, record.seconds)
        else:
            self._seen.pop(folder.name, None)
            self._first.pop(folder.name, None)
        return {
            "state": state,
            "step": step,
            "steps": steps,
            "secondsLeft": left,
            "checkpoint": str(version),
            "curves": curves(lines),
            "psnr": record.psnr,
            "error": record.error,
            "traceback": record.traceback,
            "title": title_of(record),
            "configuration": record.fields,
            "label": record.label,
            "commands": [*_stop(folder), *([what, f"{command} {of_run}"] for what, command in commands)],
        }

    def _seconds_left(self, name: str, step: int, steps: int, recorded: int, seconds: float) -> float | None:
        """Estimate from the last steps that were seen to be reached, else from the last checkpoint.

        The time since the last step counts as spent, so that the estimate falls while steps stand still. Returns None
        if nothing is known, and if the run takes longer than was estimated, until its next step is seen.
        """
        now = time.monotonic()
        seen = self._seen.setdefault(name, deque([(now, step)], maxlen=LAST))
        first = self._first.setdefault(name, step)
        if step < seen[-1][1]:  # the run was started again
            seen.clear()
            seen.append((now, step))
            self._first[name] = first = step
        if step > seen[-1][1]:
            seen.append((now, step))
        (began, start), *_ = known = [(at, reached) for at, reached in seen if reached > first] or [seen[-1]]
        last, reached = known[-1]
        if reached > start:
            each = (last - began) / (reached - start)
        elif recorded and seconds:
            each = seconds / recorded
        else:
            return None
        left = (steps - step) * each - (now - last)
        return left if left > 0 else None


class RemainingTime:
    """The remaining time of a study, estimated again every few seconds."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._known: dict[str, Any] = {"secondsLeft": None}
        self._looked = -math.inf
        self._lock = threading.Lock()

    def look(self) -> dict[str, Any]:
        """Return the seconds that are left, for one worker, None if nothing is known; no step is measured for it."""
        study = self._selection.study
        with self._lock:
            if study is not None and time.monotonic() - self._looked > ESTIMATED:
                with self._selection.guarded():
                    found = study.estimate(measure=False)
                left = None if found is None else found.seconds + (found.scoring or 0.0)
                self._known = {"secondsLeft": left}
                self._looked = time.monotonic()
            return self._known


def is_labelled_here(folder: Path) -> bool:
    """Return whether the label of a run can be changed; models of the zoo and public ones are named by theirs."""
    return not folder.resolve().is_relative_to(data_folder().resolve())


def _in_commands(folder: Path) -> str:
    """Return how commands name a run: a model of the zoo by its label, any other by its name and store."""
    if folder.resolve().is_relative_to((data_folder() / "zoo").resolve()):
        return shlex.quote(f"{PREFIX}{read_label(folder)}")
    return shlex.join([folder.name, "--store", str(folder.parent)])


def _stop(folder: Path) -> list[list[str]]:
    """Return the command that stops the process which trains a run, after a checkpoint."""
    host, pid = trainer_of(folder) or ("", 0)
    if not pid or not is_beating(folder):
        return []
    if host == machine():
        return [["stop it", f"kill -INT {pid}"]]
    return [["stop it", f"ssh -- {shlex.quote(host.partition('/')[0])} kill -INT {pid}"]]


def title_of(record: Record) -> str:
    """Return the heading of a run, also if it has no weights yet; "" if its configuration cannot be read."""
    if not record.fields or not record.is_readable:
        return ""
    return f"{spelled(record.fields['recipe'])} on {spelled(record.data)}"


def curves(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the values of every term against the step, thinned to a few hundred points; the loss comes first."""
    names = dict.fromkeys(name for line in lines for name in line if name != "step")
    found = []
    for name in sorted(names, key=lambda name: (name != "loss", list(names).index(name))):
        points = [[line["step"], line[name]] for line in lines if math.isfinite(line.get(name, math.nan))]
        if points:
            found.append(
                {
                    "name": name,
                    "title": words(name),
                    "points": [points[i] for i in evenly(len(points), POINTS).tolist()],
                }
            )
    return found
