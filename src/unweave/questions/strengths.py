"""Is there a rule of thumb for the regularisation strength? See Locatello et al. 2019, sec. 5.5, figure 8."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unweave.errors import InputError, extra
from unweave.questions.runs import (
    BACKWARDS,
    RUN,
    SETTING,
    check_columns,
    choose_scores,
    grouped,
    read_runs,
    supervised_metrics,
)

if TYPE_CHECKING:
    import pandas


def scores_by_strength(
    table: pandas.DataFrame, *, metrics: Sequence[str] | None = None, backwards: Sequence[str] = BACKWARDS
) -> pandas.DataFrame:
    """Median and quartiles over seeds of each score, for each data set, method and strength (figure 8).

    Needs ``data``, ``recipe``, ``strength``, ``seed`` and at least one score; by default all disentanglement metrics of
    Unweave that the table has. Methods without a strength are left out.

    Returns one row per score, data set, recipe and strength: ``metric``, ``data``, ``recipe``, ``strength``, ``order``,
    ``runs``, ``lower``, ``median``, ``upper``. ``order`` counts the strengths of a recipe from the weakest
    regularisation (1) to the strongest; it runs backwards for the recipes in ``backwards``, because AnnealedVAE
    regularises less the larger its capacity is. The quartiles are interpolated linearly. They are NaN without runs.
    """
    metrics = choose_scores("scores_by_strength", table, metrics, supervised_metrics())
    return by_strength("scores_by_strength", table, metrics, backwards)


def by_strength(
    analysis: str, table: pandas.DataFrame, scores: Sequence[str], backwards: Sequence[str]
) -> pandas.DataFrame:
    """Return the table of :func:`scores_by_strength` for any scores."""
    check_columns(analysis, table, [*RUN, *scores])
    runs = read_runs(analysis, table, scores)
    try:
        runs["strength"] = runs["strength"].astype("float64")
    except (TypeError, ValueError):
        raise InputError(f"{analysis}: the column 'strength' must contain numbers.") from None
    runs = runs[runs["strength"].notna()]
    if not len(runs):
        raise InputError(f"{analysis}: no run has a strength.")
    strengths = {recipe: sorted(set(values)) for recipe, values in runs.groupby("recipe", sort=False)["strength"]}
    groups = dict(iter(grouped(runs, ("data", *SETTING))))
    rows = []
    for score in scores:
        for data in runs["data"].unique():
            for recipe, ascending in strengths.items():
                ordered = ascending[::-1] if recipe in backwards else ascending
                for order, strength in enumerate(ordered, 1):
                    if (data, recipe, strength) not in groups:
                        continue
                    values = groups[data, recipe, strength][score].dropna().to_numpy()
                    quartiles = np.quantile(values, (0.25, 0.5, 0.75)) if len(values) else np.full(3, np.nan)
                    rows.append((score, data, recipe, strength, order, len(values), *quartiles))
    columns = ["metric", "data", "recipe", "strength", "order", "runs", "lower", "median", "upper"]
    return extra("pandas", "study").DataFrame(rows, columns=columns)
