"""The scores to compare a score with: those of comparable stored runs, and of the baselines that come with Unweave."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.data import DataIdentity, identity_of
from unweave.errors import InputError, Unavailable
from unweave.metrics import METRICS
from unweave.reports.facts import Facts, Score, protocol_of, scores_in
from unweave.reports.html.tables import counted, ordinal
from unweave.store.folder import runs_in
from unweave.store.record import read_record
from unweave.store.scores import name_of_data, source_of

if TYPE_CHECKING:
    import pandas

FEWEST = 2  # comparable runs, below which there is no place among them


Measured = dict[tuple[str, tuple[Any, ...]], list[float]]  # by name and protocol of the score


@dataclass(frozen=True)
class Peers:
    """Scores of other runs on the same data and of the baselines, by name and protocol."""

    stored: Measured
    psnr: list[float]
    baselines: Measured

    def values(self, score: Score) -> list[float]:
        """Return the values of stored runs that were measured in the same way."""
        return self.stored.get((score.name, protocol_of(score.protocol)), [])

    def baseline_values(self, score: Score) -> list[float]:
        """Return the values of the baselines that were measured in the same way."""
        return self.baselines.get((score.name, protocol_of(score.protocol)), [])


def find_peers(
    facts: Facts, store: Path, *, apart_from: Iterable[Path] = (), baselines: Iterable[pandas.DataFrame] = ()
) -> Peers:
    """Read the scores of other runs on the same data.

    Args:
        facts: The run to compare.
        store: The folder whose finished runs are read.
        apart_from: Folders of runs that are left out.
        baselines: Tables of runs, as :meth:`unweave.papers.Finding.stored` returns them.

    Returns:
        The scores by name and protocol.
    """
    left_out = {path.resolve() for path in apart_from}
    wanted = None if facts.identity is None else name_of_data(facts.identity.canonical())
    stored: Measured = {}
    quality = []
    for folder in runs_in(store):
        if folder.resolve() in left_out:
            continue
        record = read_record(folder)
        if record.status != "finished" or record.data_name != wanted:
            continue  # damaged runs are no peers
        if record.psnr is not None:
            quality.append(record.psnr)
        for score in (score for found in record.measured for score in scores_in(found)):
            final = score.protocol.get("step") == record.step and score.protocol.get("data") == record.data_name
            if final and math.isfinite(score.value):
                stored.setdefault((score.name, protocol_of(score.protocol)), []).append(score.value)
    return Peers(stored, quality, baselines_of(facts, baselines))


def baselines_of(facts: Facts, tables: Iterable[pandas.DataFrame]) -> Measured:
    """Return the scores of the runs in tables that were trained on the same data, by name and protocol.

    A table has the data set of each run in the column ``data``, its options in ``data.*``, and the protocol of its
    scores in ``protocol``; tables without protocols cannot be compared with anything.
    """
    found: Measured = {}
    identities: dict[str, DataIdentity | None] = {}
    for table in tables:
        if not {"data", "protocol", "state"} <= set(table):  # a table of something else than runs
            continue
        for row in table[table["state"] == "finished"].to_dict("records"):
            if _identity(row, identities) != facts.identity:
                continue
            protocol = json.loads(row["protocol"])
            for name, value in row.items():
                metric = name.partition(".")[0]
                if metric in METRICS and isinstance(value, float | int) and math.isfinite(value):
                    measured = protocol_of(
                        {
                            **protocol,
                            "settings": protocol["settings"].get(metric, {}),
                            "source": source_of(metric, protocol.get("source", "fresh")),
                        }
                    )
                    found.setdefault((name, measured), []).append(float(value))
    return found


def _identity(row: Mapping[str, Any], known: dict[str, DataIdentity | None]) -> DataIdentity | None:
    """Return the data that a row of a table names, None if it is not here or the row does not say enough."""
    named = {key: value for key, value in row.items() if key.startswith("data.") and value == value}
    options = {key.removeprefix("data."): _whole(value) for key, value in named.items()}
    key = f"{row['data']} {options}"
    if key not in known:
        try:
            known[key] = identity_of(str(row["data"]), **options)
        except (InputError, Unavailable):
            known[key] = None
    return known[key]


def _whole(value: Any) -> Any:
    """Return a whole number as an int: a column with empty cells has floats only."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


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
