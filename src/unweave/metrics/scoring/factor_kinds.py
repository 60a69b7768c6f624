"""Factors as people have them: columns with names, each of its own kind, and with missing values.

Metrics take one matrix. Here a table becomes such a matrix, with words as the numbers of their categories and NaN where
a value is missing, and every metric gets the columns that it can use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unweave.data import FactorData
from unweave.data.files.factor_tables import Missing, Table
from unweave.data.files.own_sources import read_factors
from unweave.errors import InputError
from unweave.metrics.scoring.catalogue import Metric
from unweave.metrics.scoring.inputs import Factors, Kinds, check_factors, kinds_of, num_varying, to_numpy


@dataclass(frozen=True)
class FactorKinds:
    """The names of factors, and which of them are words, which only some metrics can use."""

    names: tuple[str, ...] = ()
    words: tuple[int, ...] = ()  # columns of words beside others
    declared: Mapping[int, str] = field(default_factory=dict)  # the kind of columns whose values do not say it

    @property
    def mixed(self) -> bool:
        """Whether metrics differ in the columns that they can use."""
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
    factors: Factors | Table | Mapping[str, Any], names: Sequence[str] | None, kinds: Kinds, missing: Missing
) -> tuple[Any, FactorKinds]:
    """Return factors as a matrix, and their names and kinds; arrays of one type stay as they are."""
    table = factors if isinstance(factors, Table) else None
    if table is None and not isinstance(factors, Mapping) and not hasattr(factors, "columns"):
        array = to_numpy("score_codes", "factors", factors, objects=True)
        if array.dtype.kind != "O" or not _several_types(array):
            checked = check_factors("score_codes", factors)
            width = checked.shape[1]
            named = tuple(f"factor{k}" for k in range(width)) if names is None else tuple(map(str, names))
            if len(named) != width:
                raise InputError(f"score_codes: {width} factors need as many names, got {len(named)}.")
            return factors, FactorKinds(named, declared=dict(enumerate(kinds_of("score_codes", checked, kinds))))
        factors = array
    if table is None:
        table = read_factors(factors, names=names, missing=missing)
    assert table is not None
    found = _kinds_of(table)
    given = kinds_of("score_codes", np.asarray(table.numbers), kinds) if kinds else ()
    declared = {**dict(enumerate(given)), **found.declared}
    return table.numbers, FactorKinds(found.names, found.words, declared)


def kinds_of_data(data: FactorData) -> FactorKinds:
    """Return the names and kinds of the factors of a data set."""
    table = getattr(data, "table", None)
    return _kinds_of(table) if isinstance(table, Table) and table.space is None else FactorKinds(data.factor_names)


def _kinds_of(table: Table) -> FactorKinds:
    words = tuple(map(table.names.index, table.words))
    return FactorKinds(table.names, words, dict.fromkeys(words, "categorical"))


def _several_types(array: Any) -> bool:
    """Return whether words stand beside fractions in an array of objects (N, K)."""
    columns = array.T if array.ndim == 2 else [array]
    words = any(isinstance(entry, str) for column in columns for entry in column)
    return words and any(isinstance(entry, float) and entry % 1 for column in columns for entry in column)
