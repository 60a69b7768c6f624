"""The scores of runs: their meaning in a sentence, and where each lies among comparable runs and baselines."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unweave.data import DataIdentity, identity_of
from unweave.errors import InputError, Unavailable
from unweave.metrics import METRICS
from unweave.metrics.scoring.catalogue import source_of
from unweave.metrics.scoring.encoded_data import sample_sizes
from unweave.names import score_fields, words
from unweave.reports.facts import Facts, RunFacts, Score, protocol_of, scores_in
from unweave.reports.html import Html, Section, counted, joined, make_table, ordinal, run_commands, shown, tag
from unweave.reports.report_figures import colour_of, draw_strip
from unweave.store.folder import runs_in
from unweave.store.measurements import name_of_data
from unweave.store.record import read_record

if TYPE_CHECKING:
    import pandas

NOBODY = "no comparable run in the store"
ALONE = "The store has no other finished run that was trained on the same data and scored in the same way"
LEGEND = "Grey dots are other finished runs in the store that were trained on the same data and scored in the same way"
SCORES = frozenset(score for metric in METRICS for score in score_fields(metric))
FEWEST = 2  # comparable runs, below which there is no place among them


Measured = dict[tuple[str, tuple[Any, ...]], list[float]]  # by name and protocol of the score


def score_section(several: Sequence[Facts], peers: Sequence[Peers]) -> Section:
    """Return the scores of one or several runs, with those of other runs on the same data as strips."""
    names = list(dict.fromkeys(score.name for facts in several for score in facts.scores))
    names = [name for name in names if name != "psnr"]  # the last line of the table, for every run
    lines = [_line(name, several, peers) for name in names]
    if (quality := _quality(several, peers)) is not None:
        lines.append(quality)
    parts: list[Html] = []
    if lines:
        columns = ["score", *(_key(facts, place, len(several)) for place, facts in enumerate(several))]
        body = [row for row, _ in lines]
        compared = len(several) > 1 or any(row[-1] != tag("small", NOBODY) for row in body)
        best = {(number, place) for number, (_, places) in enumerate(lines) for place in places}
        parts.append(
            make_table(
                [*columns, "among comparable runs"] if compared else columns,
                body if compared else [row[:-1] for row in body],
                best=best,
                class_="scores alone" if len(several) == 1 else "scores",
            )
        )
        parts.append(tag("p", f"{LEGEND if compared else ALONE}. {_protocol(several)}".strip(), class_="note"))
    if any(not facts.scores for facts in several):
        parts.append(_how_to_score(several))
    about = "What was measured, what it means, and how it compares."
    return Section("Scores", joined(parts), about)


def _line(name: str, several: Sequence[Facts], peers: Sequence[Peers]) -> tuple[list[object], set[int]]:
    scores = [next((score for score in facts.scores if score.name == name), None) for facts in several]
    metric = METRICS.get(name.partition(".")[0])
    best = metric.best if metric else "neither"
    part = name.partition(".")[2]
    range_ = metric.ranges.get(part, metric.range) if metric else ""
    others = _together([each.values(score) for each, score in zip(peers, scores, strict=True) if score])
    baselines = _together([each.baseline_values(score) for each, score in zip(peers, scores, strict=True) if score])
    asks = metric.asks.get(part, metric.question) if metric else ""
    meaning = f"{asks} {_better(best, range_)}" if metric else "A metric of your own."
    values = [score.value if score else None for score in scores]
    where = _where(values, others, baselines, best, range_, name)
    placed = "; ".join(filter(None, (chance_of(score) for score in scores if score is not None)))
    title = tag("span", words(name), tag("small", f"{meaning} {placed}".strip()))
    return [title, *values, where], _best(values, best)


def chance_of(score: Score) -> str:
    """Return the chance level of a score, with the number of permutations, "" if it was not computed."""
    worth = score.worth
    if worth is None or worth.p_value is None:
        return ""
    return f"{shown(score.value)} ({worth}), p = {worth.p_value:.2g} of {worth.permutations} permutations."


def _quality(several: Sequence[Facts], peers: Sequence[Peers]) -> tuple[list[object], set[int]] | None:
    """Return the line of the PSNR at the end of training, which every finished run has."""
    values = [facts.psnr for facts in several]
    if all(value is None for value in values):
        return None
    others = _together([each.psnr for each in peers])
    meaning = (
        "How large is the signal relative to the reconstruction error, at the end of training? In dB; higher is better."
    )
    where = _where(values, others, [], "higher", "", "PSNR")
    return [tag("span", "PSNR", tag("small", meaning)), *values, where], _best(values, "higher")


def _where(
    values: Sequence[float | None],
    others: Sequence[float],
    baselines: Sequence[float],
    best: str,
    range_: str,
    name: str,
) -> Html:
    known = [math.nan if value is None else value for value in values]
    place = place_of(known[0], list(others), best) if len(values) == 1 else ""
    alt = f"{words(name)}: {', '.join(shown(value) for value in values)}; {place or f'{len(others)} comparable runs'}"
    strip = (
        draw_strip(known, others, baselines, range_=range_, alt=alt) if others or len(values) > 1 or baselines else ""
    )
    note = place or (NOBODY if not others else "")
    if baselines:
        note = f"{note}; rings are {len(baselines):,} baseline runs" if note else f"{len(baselines):,} baseline runs"
    return joined([strip, tag("small", note) if note else ""])


def _better(best: str, range_: str) -> str:
    direction = {"higher": "higher is better", "lower": "lower is better"}.get(best, "neither is better")
    return f"{range_}; {direction}."


def _best(values: Sequence[float | None], best: str) -> set[int]:
    """Return the columns with the best value, if there are several runs and a direction."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    if len(known) < 2 or best == "neither":
        return set()
    top = max(known) if best == "higher" else min(known)
    return {place for place, value in enumerate(values, 1) if value == top}


def _key(facts: Facts, place: int, count: int) -> object:
    """Return the heading of a run's column, with the colour that the run has in strips."""
    if count == 1:
        return "value"
    return tag("span", tag("span", class_="key", style=f"background:{colour_of(place, count)}"), facts.label)


def _together(values: Sequence[list[float]]) -> list[float]:
    """Return the longest of the lists: runs on the same data have the same peers."""
    return max(values, key=len, default=[])


def _protocol(several: Sequence[Facts]) -> str:
    """Return how the scores were measured, if this is the same for all."""
    ways = {_sizes(facts, score.protocol) for facts in several for score in facts.scores}
    if len(ways) != 1:
        return ""
    samples, test = next(iter(ways))
    more = "" if test is None else f", and {shown(test)} more to test where a metric needs them"
    return f"Scores were measured with {shown(samples)} samples{more}."


def _sizes(facts: Facts, protocol: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the sizes of the sample and of the test sample, which a small table of images bounds."""
    samples, tested = protocol.get("samples"), protocol.get("test_samples")
    if facts.data is None or samples is None or tested is None:
        return samples, tested
    return sample_sizes(facts.data, samples, tested)


def _how_to_score(several: Sequence[Facts]) -> Html:
    unscored = [facts.folder for facts in several if isinstance(facts, RunFacts) and not facts.scores]
    command = run_commands("unweave score", unscored)
    return joined(
        [
            tag(
                "p",
                "Some of the runs have not been scored yet."
                if len(several) > 1
                else "The run has not been scored yet.",
            ),
            tag("pre", tag("code", command)),
        ]
    )


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
    for table in tables:
        for stored in stored_scores(facts.identity, table):
            found.setdefault((stored.name, protocol_of(stored.protocol)), []).append(stored.value)
    return found


class StoredScore(NamedTuple):
    """One score of a run in a table, with the row of the run and how the score was measured."""

    row: Mapping[str, Any]
    name: str
    value: float
    protocol: dict[str, Any]


def stored_scores(identity: DataIdentity | None, table: pandas.DataFrame) -> Iterator[StoredScore]:
    """Yield the scores of the finished runs in a table that were trained on this data.

    A run that the table has under several tags counts once.
    """
    if not {"data", "protocol", "state"} <= set(table):  # a table of something else than runs
        return
    identities: dict[str, DataIdentity | None] = {}
    once = [name for name in ("run", "recipe") if name in table]
    finished = table[table["state"] == "finished"].drop_duplicates(once or None)
    for row in finished.to_dict("records"):
        if _identity(row, identities) != identity:
            continue
        protocol = json.loads(row["protocol"])
        for name, value in row.items():
            metric = name.partition(".")[0]
            if name in SCORES and isinstance(value, float | int) and math.isfinite(value):
                source = source_of(metric, protocol.get("source", "fresh"))
                settings = protocol["settings"].get(metric, {})
                yield StoredScore(row, name, float(value), {**protocol, "settings": settings, "source": source})


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
