"""How long until a run passes a fixed score? ``python benchmarks/speedrun.py [RECIPE …]`` trains, with one thread.

Each recipe is trained with its ``fast`` preset to the end, and with the published settings until it passes the bar, or
until it has had five times as long as the preset took to pass. Scores are of images that are drawn anew. Rows are added
to ``speedrun.csv`` one by one, and rows that are there are not trained again; ``speedrun.md`` is written from them.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas
import torch

import unweave
from unweave.papers.local_disentanglement import POINTS, SEED, share_of_one_dot, spread_places
from unweave.recipes.presets import FAST

TABLE, PAGE = (Path(__file__).with_name(f"speedrun.{suffix}") for suffix in ("csv", "md"))
SEEDS = (900, 901, 902)
SAMPLES = 5_000
SOONER = 5  # times
CHECKS = 50  # of a run with the preset; with the published settings, after the same numbers of steps
HEAD = f"""# Time to a good model

Written by `python benchmarks/speedrun.py`: CPU minutes of one thread, without scoring, until a run passes a score on
images that are drawn anew; medians over the seeds {SEEDS[0]} to {SEEDS[-1]}. The published settings were trained until
they passed, or for {SOONER} times as long as the preset took to pass; ">" means that this was not enough.

| recipe | bar | fast | published | sooner | target | scores at the end of fast | of published |
|---|---|---|---|---|---|---|---|"""
Measure = Callable[[Any, unweave.FactorData], dict[str, float]]


def scores(*metrics: str) -> Measure:
    """Return a function that scores a model on images that are drawn for it."""

    def measure(model: Any, data: unweave.FactorData) -> dict[str, float]:
        return dict(unweave.score(model, data, metrics=metrics, samples=SAMPLES, seed=1, workers=1).table)

    return measure


def isolation(model: Any, data: unweave.FactorData) -> dict[str, float]:
    """Return how far the columns of the Jacobian move single dots."""
    places = spread_places(POINTS, torch.Generator().manual_seed(SEED))
    return {"isolation": share_of_one_dot(model.jacobian(model.encode(data.images(places))), places)}


@dataclass(frozen=True)
class Bar:
    """What a run must pass: a value of each score, on one data set of 32 × 32 pixels."""

    data: str
    least: dict[str, float]
    measures: tuple[Measure, ...]  # cheap ones first

    def try_to_pass(self, model: Any, data: unweave.FactorData) -> bool:
        """Return whether all scores reach their values; nothing is measured after the first that does not."""
        return all(self._reached(measure(model, data)) for measure in self.measures)

    def scores_of(self, model: Any, data: unweave.FactorData) -> dict[str, float]:
        """Return all scores."""
        return {name: value for measure in self.measures for name, value in measure(model, data).items()}

    def _reached(self, found: dict[str, float]) -> bool:
        return all(found[name] >= value for name, value in self.least.items() if name in found)

    @property
    def title(self) -> str:
        """The bar as it is printed."""
        return f"{self.data}: " + ", ".join(f"{name} ≥ {value:g}" for name, value in self.least.items())


ROOMS = Bar("rooms3d", {"dci.disentanglement": 0.6, "psnr": 27.0}, (scores("psnr"), scores("dci")))
SPRITES = Bar("dsprites", {"mig": 0.1}, (scores("mig"),))
DOTS = Bar("three_dots", {"isolation": 0.7}, (isolation,))
BARS = {
    "qlae": ROOMS,
    "tripod": ROOMS,
    "beta_vae": SPRITES,
    "beta_tcvae": SPRITES,
    "factor_vae": SPRITES,
    "ada_gvae": SPRITES,
    "jl1_vae": DOTS,
}


class Enough(Exception):
    """Raised to end a run."""


class Watch:
    """A callback that notes the CPU minutes of training, without scoring, and when the bar was passed."""

    def __init__(self, bar: Bar, data: unweave.FactorData, limit: float | None) -> None:
        self._bar, self._data, self._limit = bar, data, limit
        self._start = time.process_time()
        self.passed: float | None = None
        self.minutes, self.step, self.model = 0.0, 0, None

    def __call__(self, moment: Any) -> None:
        before = time.process_time()
        self.minutes, self.step = (before - self._start) / 60, moment.step
        self.model = moment.representation
        if self.passed is None and self._bar.try_to_pass(self.model, self._data):
            self.passed = self.minutes
        self._start += time.process_time() - before
        late = self._limit is not None and self.minutes >= self._limit
        if self._limit is not None and (self.passed is not None or late):
            raise Enough


def contest(recipe: str, form: str, seed: int, limit: float | None) -> dict[str, Any]:
    """Train one run and return its row; with a limit in minutes, until it passes the bar or the limit is over."""
    bar = BARS[recipe]
    data = unweave.load(bar.data, size=32)
    watch = Watch(bar, data, limit)
    settings: dict[str, Any] = {"fast": True} if form == "fast" else {}
    settings |= {"callback": watch, "callback_steps": FAST[recipe]["steps"] // CHECKS, "threads": 1, "device": "cpu"}
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(Enough):
        unweave.train(recipe, data, seed=seed, store=folder, **settings)
    row: dict[str, Any] = {
        "recipe": recipe,
        "form": form,
        "seed": seed,
        "passed": watch.passed,
        "minutes": watch.minutes,
    }
    ends = bar.scores_of(watch.model, data)
    return row | {"steps": watch.step, **{name: ends[name] for name in bar.least}}


def results() -> pandas.DataFrame:
    """Return the rows that have been measured."""
    return pandas.read_csv(TABLE) if TABLE.exists() else pandas.DataFrame(columns=["recipe", "form", "seed"])


def measure_missing(recipe: str) -> None:
    """Train what the table does not have of a recipe, and write each row at once."""
    for seed in SEEDS:
        for form in ("fast", "published"):
            done = results()
            known = done[(done["recipe"] == recipe) & (done["seed"] == seed)].set_index("form")
            if form in known.index:
                continue
            limit = None
            if form == "published":
                passed = known.loc["fast", "passed"]
                limit = SOONER * float(passed if passed == passed else known.loc["fast", "minutes"])
            row = contest(recipe, form, seed, limit)
            pandas.concat([results(), pandas.DataFrame([row])], ignore_index=True).to_csv(TABLE, index=False)


def page(table: pandas.DataFrame) -> str:
    """Return the page: one row per recipe, with medians over seeds."""
    lines = [HEAD]
    for recipe, bar in BARS.items():
        rows = table[table["recipe"] == recipe]
        if rows.empty:
            continue
        fast, published = (rows[rows["form"] == form] for form in ("fast", "published"))
        times = [minutes_or_more(each) for each in (fast, published)]
        ratio = published["minutes"].median() / fast["passed"].fillna(fast["minutes"]).median()
        more = "> " if published["passed"].isna().any() else ""
        ends = [
            ", ".join(f"{name} {each[name].median():.2f}" for name in bar.least) if len(each) else "–"
            for each in (fast, published)
        ]
        cells = [recipe, bar.title, *times, f"{more}{ratio:.1f}", f"≥ {SOONER}", *ends]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def minutes_or_more(rows: pandas.DataFrame) -> str:
    """Return the median of the minutes until the bar, and how many runs passed it if not all did."""
    if rows.empty:
        return "–"
    passed = int(rows["passed"].notna().sum())
    minutes = rows["passed"].fillna(rows["minutes"]).median()
    return f"{minutes:.1f}" if passed == len(rows) else f"> {minutes:.1f} ({passed} of {len(rows)} passed)"


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in sys.argv[1:] or BARS:
        measure_missing(name)
    PAGE.write_text(page(results()), encoding="utf-8")
