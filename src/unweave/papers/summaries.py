"""Means and spreads over seeds, as the tables of papers show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.errors import InputError, extra

if TYPE_CHECKING:
    import pandas


def over_seeds(table: pandas.DataFrame, by: Sequence[str], scores: Sequence[str]) -> pandas.DataFrame:
    """Return "mean ± standard deviation" of scores over the runs of each group, and how many runs there are."""
    pandas = extra("pandas", "study")
    if missing := [name for name in (*by, *scores) if name not in table]:
        raise InputError(f"the table has no column {missing[0]!r}.")
    rows: list[dict[str, Any]] = []
    for key, runs in table.groupby(list(by), dropna=False, sort=False):
        row: dict[str, Any] = dict(zip(by, key, strict=True))
        row["seeds"] = len(runs)
        row |= {score: mean_and_spread(runs[score].to_numpy(float)) for score in scores}
        rows.append(row)
    return pandas.DataFrame(rows, columns=[*by, "seeds", *scores])


def mean_and_spread(values: np.ndarray[Any, np.dtype[np.float64]]) -> str:
    """Return "0.52 ± 0.03"; the spread is the sample standard deviation, left out for a single value."""
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return "–"
    spread = f" ± {values.std(ddof=1):.3f}" if len(values) > 1 else ""
    return f"{values.mean():.3f}{spread}"


def fastest(runs: pandas.DataFrame, by: Sequence[str]) -> pandas.DataFrame:
    """Return the seconds of training of the fastest run of each group, to which other work on a machine only adds."""
    seconds = runs.groupby(list(by), dropna=False, sort=False)["seconds"].min()
    return seconds.round(0).astype(int).rename("seconds of the fastest run").reset_index()


def finished(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return the finished runs of a table."""
    return table[table["state"] == "finished"] if "state" in table else table
