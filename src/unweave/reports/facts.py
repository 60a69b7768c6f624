"""What a report tells of a run, read from its folder: also of runs that failed, or whose data is not here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unweave.data import FactorData
from unweave.errors import InputError, Unavailable
from unweave.metrics import METRICS
from unweave.names import spelled
from unweave.recipes import RECIPES
from unweave.reports.numbers import duration
from unweave.store.folder import read_label
from unweave.store.scores import Entry, read_scores
from unweave.store.state import State, read_state, status_of
from unweave.training import Run, open_run
from unweave.training.configuration import Configuration, read_configuration

PROTOCOL = ("samples", "test_samples", "seed", "settings")  # what must be equal for two scores to be comparable


@dataclass(frozen=True)
class Score:
    """One number that was measured of a run."""

    name: str  # such as dci.completeness
    metric: str
    value: float
    protocol: dict[str, Any]


@dataclass(frozen=True)
class Facts:
    """A run as far as it can be read: opened, or only its files."""

    folder: Path
    configuration: Configuration
    state: State | None
    scores: tuple[Score, ...]
    run: Run | None  # None if it has no weights
    data: FactorData | None  # None if it cannot be opened here
    notes: tuple[str, ...] = ()  # what is missing, and why

    @property
    def label(self) -> str:
        """The label that the user gave to the run, or its recipe with the first digits of its name."""
        return read_label(self.folder) or f"{spelled(self.configuration.recipe)} {self.folder.name[:6]}"

    @property
    def status(self) -> str:
        """What the run is doing, such as "finished"."""
        return status_of(self.folder, self.state)


def read_facts(folder: Path, data: FactorData | None = None, *, trust: bool = True) -> Facts:
    """Read a run; without ``data``, the data set that it was trained on is opened.

    Without ``trust``, a run that needs code outside of Unweave is refused.
    """
    configuration, state = read_configuration(folder, trust=trust), read_state(folder)
    notes: list[str] = []
    run = None
    try:
        run = open_run(folder, trust=trust)
    except Unavailable as error:
        notes.append(f"Figures are left out: {error}")
    if data is None and run is not None:
        try:
            data = run.data()
        except (InputError, Unavailable) as error:
            notes.append(f"Figures are left out, because the data cannot be opened: {error}")
    elif data is not None:
        if data.shape != configuration.data.shape:
            raise InputError(
                f"the images of {data.name} have the shape {data.shape}, and the run {folder.name} was trained on "
                f"images of the shape {configuration.data.shape}."
            )
        if data.identity != configuration.data:
            notes.append(f"Figures show {data.name}, not the data that the run was trained on.")
    return Facts(folder, configuration, state, _scores(folder, state), run, data, tuple(notes))


def _scores(folder: Path, state: State | None) -> tuple[Score, ...]:
    """Return the scores of the weights as they are; of several protocols the one with most samples, or the last."""
    chosen: dict[str, Entry] = {}
    for entry in read_scores(folder).entries:
        if state is not None and entry.protocol.get("step") != state.step:
            continue
        known = chosen.get(entry.metric)
        if known is None or entry.protocol.get("samples", 0) >= known.protocol.get("samples", 0):
            chosen[entry.metric] = entry
    order = [*(name for name in METRICS if name in chosen), *(name for name in chosen if name not in METRICS)]
    return tuple(score for name in order for score in numbers_of(chosen[name]))


def numbers_of(entry: Entry) -> list[Score]:
    """Return the numbers of one stored result."""
    names = METRICS[entry.metric].scores if entry.metric in METRICS else ("score",)
    found = []
    for name in names:
        if name in entry.result:
            full = entry.metric if len(names) == 1 else f"{entry.metric}.{name}"
            found.append(Score(full, entry.metric, float(entry.result[name]), entry.protocol))
    return found


def protocol_of(protocol: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what must be equal for two scores to be comparable."""
    return tuple(repr(protocol.get(key)) for key in PROTOCOL)


def sentence_of(facts: Facts) -> str:
    """Return in a sentence or two what was trained on what, for how long, and how well it reconstructs."""
    c, state = facts.configuration, facts.state
    channels, height, width = c.data.shape
    images = f"{c.data.num_images:,} images of {height} × {width} pixels" + (", in colour" if channels == 3 else "")
    length = "" if c.linear else f" for {state.step if state else 0:,} of {c.steps:,} steps"
    if state is not None and state.step == c.steps and not c.linear:
        length = f" for {c.steps:,} steps"
    time = f" in {duration(state.seconds)}" if state and state.seconds else ""
    text = f"{spelled(c.recipe)} was trained on {spelled(c.data.label)} ({images}){length} with seed {c.seed}{time}."
    if facts.status != "finished":
        text += f" The run is {facts.status}" + (f": {state.error}" if state and state.error else ".")
    if state is not None and state.psnr is not None:
        text += f" It reconstructs images with a PSNR of {state.psnr:.1f} dB"
        text += "." if state.baseline is None else f"; the mean image alone reaches {state.baseline:.1f} dB."
    return text


def about_recipe(configuration: Configuration) -> str:
    """Return the first line of the description of a recipe, "" for one of the user's own."""
    base = configuration.base
    return (RECIPES[base].__doc__ or "").partition("\n")[0].strip() if base in RECIPES else ""
