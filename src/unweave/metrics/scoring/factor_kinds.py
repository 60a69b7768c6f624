"""Factors as people have them: columns with names, each of its own kind, and with missing values.

Metrics take one matrix. Here a table becomes such a matrix, with words as the numbers of their categories and NaN where
a value is missing, and every metric gets the columns that it can use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data import FactorData
from unweave.data.files.factor_tables import Missing, Table, frame_columns, in_order
from unweave.data.files.own_sources import read_factors
from unweave.errors import InputError, unknown
from unweave.metrics.scoring.catalogue import Metric
from unweave.metrics.scoring.column_kinds import Kinds, integer_columns, kind_of_floats, kinds_of
from unweave.metrics.scoring.inputs import Factors, check_factors, num_varying, to_numpy


@dataclass(frozen=True)
class FactorKinds:
    """The names and kinds of factors, and which of them are words, which only some metrics can use."""

    names: tuple[str, ...] = ()
    words: tuple[int, ...] = ()  # columns of words beside others
    declared: Mapping[int, str] = field(default_factory=dict)  # the kind of each column; empty for those of a grid
    whole_floats: tuple[str, ...] = ()  # columns of whole numbers that are continuous because they are floats

    @property
    def mixed(self) -> bool:
        """Return whether metrics differ in the columns that they can use."""
        return 0 < len(self.words) < len(self.names)

    def restrict(self, metric: Metric, sample: tuple[Any, Any]) -> tuple[tuple[Any, Any], str]:
        """Return the codes and factors that a metric can use, and a note on what was left out, "" if nothing was."""
        if metric.words:
            return sample, ""
        codes, factors = sample
        kept = [k for k in range(len(self.names)) if k not in self.words]
        table = to_numpy(metric.name, "factors", factors)[:, kept]
        if num_varying(table) < metric.factors_at_least:
            raise InputError(f"needs at least {metric.factors_at_least} factors that vary and are not words")
        return (codes, table), f"without {', '.join(self.names[k] for k in self.words)}"


def read_kinds(
    factors: Factors | Table | Mapping[str, Any],
    names: Sequence[str] | None,
    kinds: Kinds | Mapping[str, str],
    missing: Missing,
) -> tuple[Any, FactorKinds]:
    """Return factors as a matrix, and their names and kinds.

    Args:
        factors: A matrix (N, K), a table, or columns by name.
        names: The names of the columns of a matrix; factor0, factor1, … if None.
        kinds: The kind of each factor, as a list or by column or name; None for what types and values say.
        missing: Whether missing values of a table are refused ("error") or become NaN ("drop").

    Returns:
        The matrix (N, K), in which words are the numbers of their categories, and what its columns are.
    """
    table = factors if isinstance(factors, Table) else None
    if table is None and not is_table(factors):
        checked = check_factors("score_codes", factors)
        width = checked.shape[1]
        named = tuple(f"factor{k}" for k in range(width)) if names is None else tuple(map(str, names))
        if len(named) != width:
            raise InputError(f"score_codes: {width} factors need as many names, got {len(named)}.")
        integers = integer_columns(factors, checked)
        found, whole = kinds_of("score_codes", checked, _by_column(kinds, named), integers=integers)
        return checked, FactorKinds(named, declared=dict(enumerate(found)), whole_floats=tuple(named[k] for k in whole))
    if table is None:
        table = read_factors(factors, names=names, missing=missing)
    assert table is not None
    return table.numbers, _kinds_of(table, _by_column(kinds, table.names))


def is_table(factors: Any) -> bool:
    """Return whether factors have columns of their own kinds: a frame, a dictionary, words beside fractions."""
    if isinstance(factors, Table | Mapping) or hasattr(factors, "columns"):
        return True
    array = to_numpy("score_codes", "factors", factors, objects=True)
    return array.dtype.kind == "O" and _several_types(array)


def read_both(
    factors: Any, test: Any, names: Sequence[str] | None, kinds: Any, missing: Missing
) -> tuple[Any, Any, FactorKinds]:
    """Return the factors of two samples as matrices, with their names and kinds; a word has one number in both.

    Args:
        factors: The factors of the sample: a matrix (N, K), a table, or columns by name.
        test: Those of the test sample, in the same form and order.
        names: The names of the columns of a matrix; factor0, factor1, … if None.
        kinds: The kind of each factor, as a list or by column or name; None for what types and values say.
        missing: Whether missing values of a table are refused ("error") or become NaN ("drop").

    Returns:
        The matrix of the sample (N, K), that of the test sample (M, K), and what their columns are.
    """
    if isinstance(factors, Table) or not is_table(factors):
        sample_factors, declared = read_kinds(factors, names, kinds, missing)
        return sample_factors, test, declared
    sample, others = _columns(factors, names), _columns(test, names)
    if list(sample) != list(others):
        raise InputError(f"score_codes: the test sample has the factors {list(others)}, but the sample {list(sample)}.")
    joined = {name: np.concatenate([column, others[name]]) for name, column in sample.items()}
    both, declared = read_kinds(Table.of(joined, missing=missing), None, kinds, missing)
    rows = len(next(iter(sample.values())))
    return both[:rows], both[rows:], declared


def _columns(factors: Any, names: Sequence[str] | None) -> dict[str, NDArray[Any]]:
    """Return the columns of a table by name, without one of file names."""
    if hasattr(factors, "columns"):
        return in_order("the frame of factors", frame_columns(factors), None)
    if isinstance(factors, Mapping):
        return {str(name): np.asarray(column) for name, column in factors.items()}
    array = to_numpy("score_codes", "factors", factors, objects=True)
    array = array[:, None] if array.ndim == 1 else array
    return dict(zip(names or [f"factor{k}" for k in range(array.shape[1])], array.T, strict=True))


def _by_column(kinds: Any, names: Sequence[str]) -> dict[Any, str]:
    """Return kinds, which may be a list or given by the name of a factor, by column."""
    if not isinstance(kinds, Mapping):
        if isinstance(kinds, str) or (kinds is not None and len(kinds) != len(names)):
            raise InputError(
                f"score_codes: kinds must have one kind for each of the {len(names)} factors, got {kinds!r}."
            )
        return dict(enumerate(kinds or ()))
    for name in kinds:
        if isinstance(name, str) and name not in names:
            raise unknown("factor", name, names)
    return {names.index(name) if isinstance(name, str) else name: kind for name, kind in kinds.items()}


def missing_note(names: Sequence[str], factors: NDArray[Any]) -> dict[str, str]:
    """Return a note on how many rows have no value of each factor (N, K), none if all have one."""
    known = factors == factors if factors.dtype.kind == "f" else factors != None  # noqa: E711
    counts = len(factors) - known.sum(0)
    gaps = [f"{name} {count:,}" for name, count in zip(names, counts, strict=True) if count]
    return {"rows without a value": f"{', '.join(gaps)} of {len(factors):,}, left out of that factor"} if gaps else {}


def kinds_of_data(data: FactorData) -> FactorKinds:
    """Return the names and kinds of the factors of a data set; a space says itself that they are values on a grid."""
    table = getattr(data, "table", None)
    return _kinds_of(table, {}) if isinstance(table, Table) and table.space is None else FactorKinds(data.factor_names)


def _kinds_of(table: Table, given: Mapping[Any, str]) -> FactorKinds:
    """Return the kinds of the columns of a table: as given, or declared with the table, or what their types say."""
    types = [table.values[name].dtype.kind for name in table.names]
    words = tuple(k for k, kind in enumerate(types) if kind == "U")
    found = {table.names.index(name): kind for name, kind in table.declared.items()} | dict(given)
    whole = []
    for k, name in enumerate(table.names):
        if k in found:
            continue
        found[k], doubtful = "categorical" if k in words else "ordered", False
        if types[k] == "f":
            found[k], doubtful = kind_of_floats(table.values[name], gaps=name in table.missing)
        whole += [name] if doubtful else []
    checked, _ = kinds_of("score_codes", table.numbers, found, integers=np.ones(len(types), np.bool_))
    for k in words:
        if checked[k] == "continuous":
            raise InputError(f"score_codes: factor {table.names[k]} has words, so it cannot be continuous.")
    return FactorKinds(table.names, words, dict(enumerate(checked)), tuple(whole))


def _several_types(array: Any) -> bool:
    """Return whether words stand beside fractions in an array of objects (N, K)."""
    columns = array.T if array.ndim == 2 else [array]
    words = any(isinstance(entry, str) for column in columns for entry in column)
    return words and any(isinstance(entry, float) and entry % 1 for column in columns for entry in column)
