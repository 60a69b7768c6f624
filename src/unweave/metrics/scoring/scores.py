"""Scores: results by the metric's name, as numbers and as JSON that can be read back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from functools import lru_cache
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from unweave.errors import InputError
from unweave.lazy_imports import later
from unweave.metrics.scoring.catalogue import METRICS, Metric
from unweave.metrics.scoring.display import as_html, as_text
from unweave.metrics.scoring.inputs import Booleans, Floats, Integers
from unweave.metrics.scoring.worth import Worth
from unweave.names import score_fields
from unweave.plain_json import to_plain

ARRAYS: dict[Any, Any] = {Floats: np.float64, Integers: np.int64, Booleans: np.bool_}


@dataclass(frozen=True)
class Value:
    """The result of a user's metric that returned a number."""

    score: float


@dataclass(frozen=True, repr=False)
class Scores(Mapping[str, Any]):
    """Results by the metric's name, and why other metrics were left out.

    Printed, it is a short table and what each latent follows. ``table`` has every score as a number, the results have
    the matrices behind them; ``to_json`` keeps the whole results, and ``from_json`` reads them back.

    Examples:
        >>> import numpy as np, unweave
        >>> factors = np.indices((5, 4)).reshape(2, -1).T.repeat(10, axis=0)  # (200, 2)
        >>> scores = unweave.score_codes(-factors, factors, metrics=["mig", "modularity"])
        >>> print(scores)
        metric      score   better  range
        mig         1.0000  higher  0 to 1
        modularity  1.0000  higher  0 to 1
        >>> scores["mig"].per_factor
        array([1., 1.])
    """

    results: dict[str, Any]
    left_out: dict[str, str] = field(default_factory=dict)  # metrics of "all" that were not computed, and why
    factors: tuple[str, ...] = ()  # the names of the factors, in the order of matrices and lists in the results
    notes: dict[str, str] = field(default_factory=dict)  # factors and rows that a metric could not use
    worth: dict[str, Worth] = field(default_factory=dict)  # chance and intervals by the name of the score, if asked for

    def __getitem__(self, name: str) -> Any:
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    @property
    def table(self) -> dict[str, float]:
        """Every score as a number; a metric with several scores has one entry for each, like ``dci.completeness``."""
        return {
            score: float(getattr(result, field))
            for metric, result in self.results.items()
            for score, field in score_fields(metric).items()
        }

    def figure(self, name: str = "mutual_information", **settings: Any) -> Any:
        """Draw the matrix that a metric has computed: mutual_information (of infomec or mig), or dci_importance."""
        return later("unweave.questions._figure:figure", name, self, **settings)

    def to_json(self) -> str:
        """Return the results, matrices included, and what was left out, as JSON."""
        results = {name: result_to_plain(result) for name, result in self.results.items()}
        about: dict[str, Any] = {"left_out": self.left_out, "factors": list(self.factors), "notes": self.notes}
        about |= {"worth": {name: asdict(worth) for name, worth in self.worth.items()}} if self.worth else {}
        return json.dumps({"results": results, **about}, indent=2, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Scores:
        """Read back what :meth:`to_json` wrote."""
        try:
            plain = json.loads(text)
            results = {name: result_from_plain(name, result) for name, result in plain["results"].items()}
            about = tuple(plain.get("factors", ())), dict(plain.get("notes", {}))
            worth = {name: Worth(**given) for name, given in plain.get("worth", {}).items()}
            return cls(results, dict(plain["left_out"]), *about, worth)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"these are not scores as Scores.to_json writes them: {error}") from error

    def table_to_json(self) -> str:
        """Return the table as JSON; values that are not finite become "NaN", "Infinity" or "-Infinity"."""
        return json.dumps({name: to_plain(value) for name, value in self.table.items()}, indent=2, allow_nan=False)


def result_to_plain(result: Any) -> dict[str, Any]:
    """Return a result as a dictionary for JSON: matrices as nested lists, NaN and infinities as strings."""
    names = [part.name for part in fields(result)] if is_dataclass(result) else ["score"]
    return {name: to_plain(getattr(result, name)) for name in names}


def result_from_plain(metric: str | Metric, plain: Mapping[str, Any]) -> Any:
    """Return the result that :func:`result_to_plain` was given, of the type that the metric returns.

    For a metric that is not in the catalogue, only the score is rebuilt.
    """
    known = METRICS.get(metric) if isinstance(metric, str) else metric
    kind = Value if known is None or known.own else _hints(known.function)["return"]
    hints = _hints(kind)
    try:
        return kind(**{name: _rebuilt(hints[name], plain[name]) for name in _written(kind, plain)})
    except (KeyError, TypeError, ValueError) as error:
        name = metric if isinstance(metric, str) else metric.name
        raise InputError(f"this is not a result of {name} as result_to_plain writes it: {error!r}") from error


def _written(kind: Any, plain: Mapping[str, Any]) -> list[str]:
    """Return the fields of a result, but for those that came after it had been stored and have a default."""
    new = [part.name for part in fields(kind) if part.default_factory is not MISSING and part.name not in plain]
    return [part.name for part in fields(kind) if part.name not in new]


@lru_cache(maxsize=256)
def _hints(what: Any) -> dict[str, Any]:
    """Return the types of a function or a class, which take long to work out."""
    return get_type_hints(what)


def _rebuilt(hint: Any, value: Any) -> Any:
    if hint in ARRAYS:
        return np.array(_numbers(value), ARRAYS[hint])
    if get_origin(hint) is tuple:
        return tuple(_rebuilt(get_args(hint)[0], entry) for entry in value)
    return float(value) if hint is float else value


def _numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [_numbers(entry) for entry in value]
    return float(value) if isinstance(value, str) else value
