"""The scores of a run: what was measured, with which protocol, stored beside the weights.

**The score of a run** is the same everywhere: in lists, tables, figures, reports and on the page. It is measured on the
final weights and on the data that the run was trained on. If a metric was measured with several protocols, one with the
default settings of the metric takes precedence over others, then one with more samples, then one from the pool of
samples (the default) over one from new images, then the one that was measured last. Scores of snapshots and of other
data are stored too, but count only where they are asked for. A study asks for its own protocol, so its table shows the
scores that were measured with that one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from filelock import FileLock

from unweave.errors import Damaged, InputError
from unweave.names import score_fields
from unweave.plain_json import to_plain
from unweave.store.files import another_writer, read_json, reason_of, refused, versions, write_text
from unweave.store.folder import SCORES

if TYPE_CHECKING:
    from unweave.metrics import Scores
    from unweave.metrics.scoring.worth import Worth


@dataclass(frozen=True)
class Entry:
    """One result of one metric, and the protocol it was measured with."""

    metric: str
    protocol: dict[str, Any]  # data, step, samples, test_samples, seed, settings, and source if it is the pool
    version: str  # of Unweave and of torch
    result: dict[str, Any]  # numbers and matrices as plain JSON

    def __post_init__(self) -> None:
        right = isinstance(self.metric, str) and isinstance(self.protocol, dict) and isinstance(self.result, dict)
        if not right:
            raise TypeError(f"not an entry: {self}")


class Measurement(NamedTuple):
    """The scores of one metric, without its matrices."""

    metric: str
    protocol: str  # as JSON
    scores: dict[str, float]  # by name, like dci.completeness
    worth: dict[str, dict[str, Any]]  # chance and intervals as JSON, by the name of the score; {} without any


Measured = TypeVar("Measured", Entry, Measurement)


class StoredScores(Mapping[str, Any]):
    """Results by metric; of a metric that was measured with several protocols, the one that takes precedence."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = tuple(entries)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(entry.metric for entry in self.entries))

    def __len__(self) -> int:
        return len({entry.metric for entry in self.entries})

    def __getitem__(self, metric: str) -> Any:
        from unweave.metrics import result_from_plain

        found = [entry for entry in self.entries if entry.metric == metric]
        return result_from_plain(metric, preferred(found, lambda entry: entry.protocol)[metric].result)

    def select(self, **protocol: Any) -> StoredScores:
        """Return the scores that were measured with these values of the protocol, as in ``select(samples=1000)``."""
        return StoredScores([e for e in self.entries if all(e.protocol.get(k) == v for k, v in protocol.items())])

    @property
    def table(self) -> dict[str, float]:
        """Every score as a number, as in :attr:`Scores.table`."""
        chosen = preferred(self.entries, lambda entry: entry.protocol)
        return {name: value for metric in self for name, value in numbers_of(chosen[metric]).items()}

    def __repr__(self) -> str:
        return f"<scores: {', '.join(self) or 'none'}>"


def preferred(found: Iterable[Measured], protocol: Callable[[Measured], Mapping[str, Any]]) -> dict[str, Measured]:
    """Return by metric what takes precedence, as the first lines of this module say."""
    best: dict[str, tuple[tuple[bool, int, bool], Measured]] = {}
    for each in found:
        settings, samples = protocol(each).get("settings"), protocol(each).get("samples")
        rank = not settings, samples if isinstance(samples, int) else 0, protocol(each).get("source") == "pool"
        if each.metric not in best or rank >= best[each.metric][0]:
            best[each.metric] = (rank, each)
    return {metric: each for metric, (_, each) in best.items()}


def numbers_of(entry: Entry) -> dict[str, float]:
    """Return the scores of a result by name; raise an InputError if it is not a result of the metric.

    Scores that are computed from the fields of a result, such as those of local metrics, need torch.
    """
    wanted = score_fields(entry.metric)
    try:
        return {name: float(entry.result[field]) for name, field in wanted.items()}
    except (KeyError, TypeError, ValueError, OverflowError):
        from unweave.metrics import result_from_plain

        result = result_from_plain(entry.metric, entry.result)
        return {name: float(getattr(result, field)) for name, field in wanted.items()}


@lru_cache(maxsize=4096)
def read_protocol(text: str) -> Mapping[str, Any]:
    """Return the protocol of a measurement."""
    protocol: dict[str, Any] = json.loads(text)
    return protocol


def name_of_data(identity: Mapping[str, Any]) -> str:
    """Return what a protocol calls data: a hash of what identifies it, which is not where it was found."""
    canonical = {key: value for key, value in identity.items() if key != "source"}
    return hashlib.sha256(json.dumps(canonical, sort_keys=True).encode()).hexdigest()[:16]


def read_scores(folder: Path) -> StoredScores:
    """Return the scores that are stored with a run."""
    path = folder / SCORES
    try:
        found = read_json(path)
    except FileNotFoundError:
        return StoredScores([])
    except (OSError, ValueError) as error:
        raise _damaged(path, reason_of(error)) from error
    try:
        return StoredScores([Entry(**entry) for entry in found])
    except TypeError as error:
        writers = [another_writer(entry) for entry in found] if isinstance(found, list) else []
        if writer := next(filter(None, writers), None):
            raise refused(path, writer, str(error)) from error
        raise _damaged(path, str(error)) from error


def read_measurements(folder: Path) -> Iterator[Measurement]:
    """Yield the scores of a run as numbers; those of metrics that this version does not know are left out."""
    for entry in read_scores(folder).entries:
        try:
            scores = numbers_of(entry)
        except InputError as error:
            from unweave.metrics import METRICS

            if entry.metric not in METRICS and ":" not in entry.metric:
                continue
            if (writer := another_writer(vars(entry))) is not None:
                raise refused(folder / SCORES, writer, str(error)) from error
            raise _damaged(folder / SCORES, str(error)) from error
        protocol = json.dumps(entry.protocol, sort_keys=True)
        yield Measurement(entry.metric, protocol, scores, entry.result.get("worth", {}))


def _damaged(path: Path, reason: str) -> Damaged:
    return Damaged(f"{path} is damaged ({reason})", "remove it, and scores are measured again.")


def add_scores(folder: Path, protocols: Mapping[str, dict[str, Any]], scores: Scores) -> None:
    """Add results to the scores of a run; those with the same metric and protocol are replaced."""
    from unweave.metrics import result_to_plain

    new = [
        Entry(metric, to_plain(protocols[metric]), versions(), {**result_to_plain(result), **_worth(metric, scores)})
        for metric, result in scores.items()
    ]
    with FileLock(folder / f"{SCORES}.lock"):
        kept = [e for e in read_scores(folder).entries if not any(is_same(e, n.metric, n.protocol) for n in new)]
        lines = ",\n".join(json.dumps(vars(entry), allow_nan=False) for entry in [*kept, *new])
        write_text(folder / SCORES, f"[\n{lines}\n]\n")


def _worth(metric: str, scores: Scores) -> dict[str, Any]:
    """Return chance and intervals of the scores of a metric as they are stored with its result, {} without any."""
    known = {name: asdict(scores.worth[name]) for name in score_fields(metric) if name in scores.worth}
    return {"worth": known} if known else {}


def worth_in(entry: Entry) -> dict[str, Worth]:
    """Return chance and intervals that are stored with a result, by the name of the score."""
    from unweave.metrics.scoring.worth import Worth

    return {name: Worth(**given) for name, given in entry.result.get("worth", {}).items()}


def is_same(entry: Entry, metric: str, protocol: Mapping[str, Any]) -> bool:
    """Return whether an entry holds this metric, measured with this protocol."""
    return entry.metric == metric and entry.protocol == protocol
