"""The scores of a run: what was measured, under which protocol, kept beside the weights."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from unweave.errors import Damaged, InputError
from unweave.metrics import Scores, result_from_plain, result_to_plain
from unweave.plain_json import to_plain
from unweave.store.atomic import write_text
from unweave.store.folder import SCORES
from unweave.store.formats import another_writer, refused, versions


@dataclass(frozen=True)
class Entry:
    """One result of one metric, and the protocol it was measured with."""

    metric: str
    protocol: dict[str, Any]  # data, step, samples, test_samples, seed, settings
    version: str  # of Unweave and of torch
    result: dict[str, Any]  # numbers and matrices as plain JSON

    def __post_init__(self) -> None:
        right = isinstance(self.metric, str) and isinstance(self.protocol, dict) and isinstance(self.result, dict)
        if not right:
            raise TypeError(f"not an entry: {self}")


class StoredScores(Mapping[str, Any]):
    """Results by metric. A metric that was measured with several protocols must be selected before it is read."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = tuple(entries)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(entry.metric for entry in self.entries))

    def __len__(self) -> int:
        return len({entry.metric for entry in self.entries})

    def __getitem__(self, metric: str) -> Any:
        found = [entry for entry in self.entries if entry.metric == metric]
        if not found:
            raise KeyError(metric)
        if len(found) > 1:
            differing = {
                key for entry in found for key in entry.protocol if entry.protocol[key] != found[0].protocol[key]
            }
            choices = "; ".join(", ".join(f"{key}={e.protocol[key]}" for key in sorted(differing)) for e in found)
            raise InputError(f"{metric} was measured {len(found)} times, with {choices}: use scores.select(…) first.")
        return result_from_plain(metric, found[0].result)

    def select(self, **protocol: Any) -> StoredScores:
        """Return the scores that were measured with these values of the protocol, as in ``select(samples=1000)``."""
        return StoredScores([e for e in self.entries if all(e.protocol.get(k) == v for k, v in protocol.items())])

    @property
    def table(self) -> dict[str, float]:
        """Every score as a number, as in :attr:`Scores.table`."""
        return Scores({name: self[name] for name in self}).table

    def __repr__(self) -> str:
        return f"<scores: {', '.join(self) or 'none'}>"


def read_scores(folder: Path) -> StoredScores:
    """Return the scores that are kept with a run."""
    path = folder / SCORES
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return StoredScores([])
    except (OSError, ValueError) as error:
        raise Damaged(f"{path} is damaged ({error})", "remove it, and scores are measured again.") from error
    try:
        return StoredScores([Entry(**entry) for entry in found])
    except TypeError as error:
        writers = [another_writer(entry) for entry in found] if isinstance(found, list) else []
        if writer := next(filter(None, writers), None):
            raise refused(path, writer, str(error)) from error
        raise Damaged(f"{path} is damaged ({error})", "remove it, and scores are measured again.") from error


def add_scores(folder: Path, protocols: Mapping[str, dict[str, Any]], scores: Scores) -> None:
    """Add results to the scores of a run; those with the same metric and protocol are replaced."""
    new = [
        Entry(metric, to_plain(protocols[metric]), versions(), result_to_plain(result))
        for metric, result in scores.items()
    ]
    with FileLock(folder / f"{SCORES}.lock"):
        kept = [e for e in read_scores(folder).entries if not any(is_same(e, n.metric, n.protocol) for n in new)]
        lines = ",\n".join(json.dumps(vars(entry), allow_nan=False) for entry in [*kept, *new])
        write_text(folder / SCORES, f"[\n{lines}\n]\n")


def is_same(entry: Entry, metric: str, protocol: Mapping[str, Any]) -> bool:
    """Return whether an entry holds this metric, measured with this protocol."""
    return entry.metric == metric and entry.protocol == protocol
