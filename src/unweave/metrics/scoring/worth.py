"""The worth of a score: its chance level, by permuted factors, and its interval over samples.

Permuting the rows of the factors keeps codes and factors as they are and removes every dependence between them.
Intervals are those of half-samples without replacement, whose spread is that of a bootstrap; rows that are drawn twice,
as in the usual bootstrap, would look like information to estimates by neighbours.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.errors import InputError, unknown, whole
from unweave.names import score_fields
from unweave.progress import progress

if TYPE_CHECKING:
    from unweave.metrics.scoring.catalogue import Metric

Repeats = int | Mapping[str, int]  # of all metrics, or by the name of a metric
Sample = tuple[Any, Any]  # codes (N, D) and factors (N, K)
Compute = Callable[[list[Sample]], Any]  # the result of a metric on its samples
_kept: ContextVar[dict[Any, Any] | None] = ContextVar("kept", default=None)


@dataclass(frozen=True)
class Worth:
    """The chance level of a score and its central 95 %, the p-value, and the 95 % interval over samples."""

    chance: float | None = None  # mean of permutations
    spread: float | None = None  # half the width of their central 95 %
    p_value: float | None = None  # share of permutations at least as good, counting the score itself
    low: float | None = None
    high: float | None = None
    permutations: int = 0
    half_samples: int = 0

    def __str__(self) -> str:
        parts = [] if self.chance is None else [f"chance {self.chance:.3f} ± {self.spread:.3f}"]
        return ", ".join(parts if self.low is None else [*parts, f"95 % {self.low:.3f} to {self.high:.3f}"])


def repeats_of(what: str, given: Repeats, metrics: Sequence[Metric], *, every: bool) -> dict[str, int]:
    """Return how often each metric is computed again.

    Args:
        what: The argument, "null" or "bootstrap", for errors.
        given: The number for all metrics, or by metric; a metric that is not named is not computed again.
        metrics: The metrics that are computed.
        every: Whether they are those of "all", of which slow ones are computed again at most ``most_repeats`` times.

    Returns:
        The number by metric.
    """
    if isinstance(given, Mapping):
        known = {metric.name for metric in metrics}
        for name in given:
            if name not in known:
                raise unknown(f"metric of {what}", str(name), known)
        return {name: _repeats(f"{what} of {name}", given.get(name, 0)) for name in known}
    count = _repeats(what, given)
    return {
        metric.name: count if not every or metric.most_repeats is None else min(count, metric.most_repeats)
        for metric in metrics
    }


def _repeats(what: str, given: Any) -> int:
    """Return how often to repeat; a single repetition would have no spread."""
    count = whole(what, given)
    if count == 1:
        raise InputError(f"{what} must be 0 or at least 2, as one repetition has no spread, got 1.")
    return count


def repeats_note(null: Repeats, bootstrap: Repeats, counts: Sequence[Mapping[str, int]]) -> dict[str, str]:
    """Return a note on the metrics that are computed again less often than asked, none if there are not any."""
    notes = {}
    for what, given, found in zip(("permutations", "half-samples"), (null, bootstrap), counts, strict=True):
        fewer = [name for name, count in found.items() if isinstance(given, int) and count < given]
        if fewer:
            number = max(found[name] for name in fewer)
            notes[what] = f"{number} of the {given} for {', '.join(fewer)}, which are slow; name them for all"
    return notes


class RepeatCounts(NamedTuple):
    """The number of permutations and half-samples of each metric, their seed, and a note on those that have fewer."""

    null: dict[str, int]
    bootstrap: dict[str, int]
    seed: int
    notes: dict[str, str]

    @classmethod
    def of(
        cls, metrics: Sequence[Metric], names: object, null: Repeats, bootstrap: Repeats, seed: int = 0
    ) -> RepeatCounts:
        """Read the two numbers for metrics that ``names`` has chosen; only those of codes and factors have any.

        Args:
            metrics: The metrics that are computed.
            names: What they were chosen by; slow ones of "all" are computed again less often.
            null: The number of permutations, of all metrics or by metric.
            bootstrap: The number of half-samples, of all metrics or by metric.
            seed: The seed of both.

        Returns:
            The numbers by metric, with a note on those that have fewer than asked.
        """
        placed = [metric for metric in metrics if metric.uses_factors]
        every = isinstance(names, str) and names == "all"
        counts = [
            repeats_of("null", null, placed, every=every),
            repeats_of("bootstrap", bootstrap, placed, every=every),
        ]
        return cls(counts[0], counts[1], seed, repeats_note(null, bootstrap, counts))


def worth_of(
    metric: str,
    best: str,
    result: Any,
    compute: Compute,
    samples: list[Sample],
    *,
    null: int,
    bootstrap: int,
    seed: int,
) -> dict[str, Worth]:
    """Return what each score of a result is worth.

    Args:
        metric: The name of the metric.
        best: Whether "higher" or "lower" is better.
        result: The result on the samples.
        compute: A function from samples to the result.
        samples: The sample, and the test sample if there is one.
        null: The number of permutations, 0 for no chance level.
        bootstrap: The number of half-samples, 0 for no interval.
        seed: The seed of both.

    Returns:
        The worth by the name of the score.
    """
    rng = np.random.default_rng([seed, 25])
    fields = score_fields(metric)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*rows are drawn with replacement")  # which was said of the result itself
        with reusing():
            chance = [
                compute([(c, f[rng.permutation(len(f))]) for c, f in samples])
                for _ in _counted(f"chance of {metric}", null)
            ]
        halves = [compute([_half(c, f, rng) for c, f in samples]) for _ in _counted(f"interval of {metric}", bootstrap)]
    return {
        name: _worth(float(getattr(result, field)), best, _numbers(chance, field), _numbers(halves, field))
        for name, field in fields.items()
    }


def _counted(task: str, count: int) -> Iterator[int]:
    """Count to a number while showing the progress."""
    if count:
        with progress(task, count) as advance:
            for number in range(count):
                yield number
                advance(1)


def _numbers(results: list[Any], field: str) -> NDArray[np.float64]:
    return np.array([float(getattr(result, field)) for result in results])


def _half(codes: Any, factors: Any, rng: np.random.Generator) -> Sample:
    rows = np.sort(rng.permutation(len(codes))[: max(2, len(codes) // 2)])
    return codes[rows], factors[rows]


def _worth(score: float, best: str, chance: NDArray[np.float64], halves: NDArray[np.float64]) -> Worth:
    known: dict[str, Any] = {"permutations": len(chance), "half_samples": len(halves)}
    if len(chance):
        low, high = np.quantile(chance, [0.025, 0.975])
        as_good = chance <= score if best == "lower" else chance >= score
        known |= {"chance": float(chance.mean()), "spread": float(high - low) / 2}
        known["p_value"] = float((1 + as_good.sum()) / (1 + len(chance)))
    if len(halves):
        low, high = np.quantile(halves - halves.mean(), [0.025, 0.975])
        known |= {"low": score + float(low), "high": score + float(high)}
    return Worth(**known)


@contextmanager
def reusing() -> Iterator[None]:
    """Keep what :func:`reused` computes from codes until the end of the block."""
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)


def is_reusing() -> bool:
    """Return whether arrays are to be left as they are, so that they are recognised."""
    return _kept.get() is not None


def reused(compute: Callable[..., Any], array: NDArray[Any], *more: Any) -> Any:
    """Return ``compute(array, *more)``, computed once per array within a block of :func:`reusing`."""
    kept = _kept.get()
    if kept is None:
        return compute(array, *more)
    key = (compute.__qualname__, id(array), *(id(each) if isinstance(each, np.ndarray) else each for each in more))
    if key not in kept:
        kept[key] = (compute(array, *more), array, more)  # the arrays are kept too, so that no other has their id
    return kept[key][0]
