"""Do good hyperparameters transfer to other data sets? See Locatello et al. 2019, sec. 5.5, figures 10 and 11."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.errors import InputError, extra, unknown
from unweave.questions.ranks import rank_correlation
from unweave.questions.runs import SETTING, choose_scores, over_seeds, read_runs, supervised_metrics

if TYPE_CHECKING:
    import pandas


def transfer_between_data(table: pandas.DataFrame, *, metrics: Sequence[str] | None = None) -> pandas.DataFrame:
    """Spearman's rank correlation of each metric between every two data sets, over settings (figure 10).

    Needs ``data`` (at least two), ``recipe``, ``strength``, ``seed`` and at least one metric. A setting is a recipe
    with a strength; its score is the median over seeds, as in the paper. Settings are paired by recipe and strength,
    and those that were not trained on both data sets are left out. Ties have average ranks.

    Returns one row per metric and ordered pair of data sets: ``metric``, ``data``, ``other``, ``correlation``,
    ``count`` (settings). The correlation is NaN for fewer than three settings or if all scores are equal.
    """
    metrics = choose_scores("transfer_between_data", table, metrics, supervised_metrics())
    medians = _by_data("transfer_between_data", table, metrics)
    settings = extra("pandas", "study").concat([part[[]] for part in medians.values()]).index.drop_duplicates()
    rows = []
    for metric in metrics:
        values = {data: part[metric].reindex(settings).to_numpy() for data, part in medians.items()}  # (settings,) each
        for one, first in values.items():
            for other, second in values.items():
                count = int((np.isfinite(first) & np.isfinite(second)).sum())
                rows.append((metric, one, other, rank_correlation(first, second), count))
    return extra("pandas", "study").DataFrame(rows, columns=["metric", "data", "other", "correlation", "count"])


def transfer_of_scores(
    table: pandas.DataFrame, *, source: str | None = None, metrics: Sequence[str] | None = None
) -> pandas.DataFrame:
    """Median score of each setting on one data set (x) and on every other data set (y), for each metric (figure 11).

    Needs the columns of :func:`transfer_between_data`. ``source`` is the data set on the x axis, by default the first
    of the table (dSprites in the paper).

    Returns one row per metric, other data set and setting: ``metric``, ``source``, ``data``, ``recipe``, ``strength``,
    ``x_value``, ``y_value``.
    """
    metrics = choose_scores("transfer_of_scores", table, metrics, supervised_metrics())
    medians = _by_data("transfer_of_scores", table, metrics)
    source = next(iter(medians)) if source is None else source
    if source not in medians:
        raise unknown("data set", str(source), map(str, medians))
    parts = []
    for metric in metrics:
        for data, other in medians.items():
            if data == source:
                continue
            both = _paired(medians[source][metric], other[metric])
            parts.append(both.reset_index().assign(metric=metric, source=source, data=data))
    columns = ["metric", "source", "data", *SETTING, "x_value", "y_value"]
    return extra("pandas", "study").concat(parts, ignore_index=True)[columns]


def _by_data(analysis: str, table: pandas.DataFrame, metrics: Sequence[str]) -> dict[Any, pandas.DataFrame]:
    """Return the medians over seeds for each data set, indexed by recipe and strength."""
    runs = read_runs(analysis, table, metrics)
    medians = over_seeds(runs, metrics, "medians")
    if medians["data"].nunique() < 2:
        raise InputError(f"{analysis} needs at least two data sets, and the table has one.")
    return {
        data: medians[medians["data"] == data].set_index(list(SETTING))[list(metrics)]
        for data in medians["data"].unique()
    }


def _paired(one: pandas.Series, other: pandas.Series) -> pandas.DataFrame:
    """Return the settings with a score on both data sets."""
    return one.to_frame("x_value").join(other.to_frame("y_value"), how="inner").dropna()
