"""Where a score lies: the scores of comparable stored runs, and of the baselines that come with Unweave."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import unweave
from unweave.errors import InputError, Unavailable, extra
from unweave.metrics import METRICS
from unweave.reports.facts import Facts, Score, numbers_of, protocol_of
from unweave.reports.numbers import counted, ordinal
from unweave.store.folder import read_fields, runs_in
from unweave.store.scores import read_scores
from unweave.store.state import read_state

if TYPE_CHECKING:
    import pandas

BASELINES = Path(unweave.__file__).parent / "baselines"
FEWEST = 2  # comparable runs, below which there is no place among them


@dataclass(frozen=True)
class Peers:
    """Scores of other runs on the same data: by name and protocol, and those of the baselines by name."""

    stored: dict[tuple[str, tuple[Any, ...]], list[float]]
    psnr: list[float]
    baselines: dict[str, list[float]]

    def values(self, score: Score) -> list[float]:
        """Return the values of stored runs that were measured in the same way."""
        return self.stored.get((score.name, protocol_of(score.protocol)), [])


def find_peers(facts: Facts, store: Path, *, apart_from: Iterable[Path] = ()) -> Peers:
    """Read the finished runs of a store that were trained on the same data, without those in ``apart_from``."""
    same = _canonical(facts.configuration.data.model_dump(mode="json"))
    left_out = {path.resolve() for path in apart_from}
    stored: dict[tuple[str, tuple[Any, ...]], list[float]] = {}
    quality = []
    for folder in runs_in(store):
        if folder.resolve() in left_out:
            continue
        try:
            if _canonical(read_fields(folder)["data"]) != same:
                continue
            state = read_state(folder)
            entries = read_scores(folder).entries
        except (Unavailable, InputError, KeyError, TypeError, AttributeError):
            continue  # damaged runs are no peers
        if state is None or state.status != "finished":
            continue
        if state.psnr is not None:
            quality.append(state.psnr)
        for entry in entries:
            if entry.protocol.get("step") == state.step:
                for score in numbers_of(entry):
                    if math.isfinite(score.value):
                        stored.setdefault((score.name, protocol_of(score.protocol)), []).append(score.value)
    return Peers(stored, quality, baselines_of(facts))


def baselines_of(facts: Facts, folder: Path = BASELINES) -> dict[str, list[float]]:
    """Return the scores of the baselines on the same data set, by name of the score.

    Baselines are tables with one row per run, as :meth:`unweave.Study.table` returns them, in ``.parquet`` and
    ``.csv`` files. Where a table has the shape of the images, only runs with the same shape are taken.
    """
    found: dict[str, list[float]] = {}
    for path in sorted(folder.glob("*")) if folder.is_dir() else ():
        if path.suffix in (".parquet", ".csv"):
            table = _read(path)
            if "data" not in table:  # a table of something else than runs
                continue
            table = table[table["data"] == facts.configuration.data.label]
            if (shape := "configuration.data.shape") in table:
                same = _digits(facts.configuration.data.shape)
                table = table[[_digits(value) == same for value in table[shape]]]
            for column in table.columns:
                if column.partition(".")[0] in METRICS:
                    found.setdefault(column, []).extend(_numbers(table[column]))
    return found


def place_of(value: float, others: list[float], best: str) -> str:
    """Return the place of a value among others in words; ``best`` is "higher", "lower" or "neither"."""
    if len(others) < FEWEST or not math.isfinite(value):
        return ""
    if best == "neither":
        below = sum(other < value for other in others)
        return f"higher than {below / len(others):.0%} of {counted(len(others), 'comparable run')}"
    sign = -1 if best == "lower" else 1
    better = sum(sign * other > sign * value for other in others)
    return f"{ordinal(better + 1)} of {counted(len(others) + 1, 'comparable run')}"


@functools.lru_cache(maxsize=8)
def _read(path: Path) -> pandas.DataFrame:
    reader = extra("pandas", "study")
    frame: pandas.DataFrame = reader.read_parquet(path) if path.suffix == ".parquet" else reader.read_csv(path)
    return frame


def _numbers(column: pandas.Series) -> list[float]:
    values = extra("pandas", "study").to_numeric(column, errors="coerce").dropna()
    return [float(value) for value in values if math.isfinite(value)]


def _digits(shape: object) -> list[int]:
    """Return the numbers of a shape, which files have as a list, a tuple or a text."""
    return [int(number) for number in re.findall(r"\d+", str(shape))]


def _canonical(data: dict[str, Any]) -> str:
    return json.dumps({key: value for key, value in data.items() if key != "source"}, sort_keys=True)
