"""What matters more, the method or its hyperparameters? See Locatello et al. 2019, sec. 5.4, figure 7."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unweave.errors import extra
from unweave.questions.runs import Over, choose_scores, grouped, over_seeds, read_runs, supervised_metrics

if TYPE_CHECKING:
    import pandas


def score_ranges(
    table: pandas.DataFrame, *, metrics: Sequence[str] | None = None, over: Over = "medians"
) -> pandas.DataFrame:
    """Range and quartiles of the scores that each method attains on each data set (figure 7).

    Needs ``data``, ``recipe``, ``strength``, ``seed`` and at least one score; by default all disentanglement metrics of
    Unweave that the table has. Section 5.4 takes the median over seeds, so that a range shows the influence of the
    hyperparameter alone; this is the default. ``over="models"`` has one value per model and includes the seeds.

    Returns one row per score, data set and recipe: ``metric``, ``data``, ``recipe``, ``count``, ``minimum``, ``lower``,
    ``median``, ``upper``, ``maximum``. Quartiles are interpolated linearly. All are NaN if there is no value.
    """
    metrics = choose_scores("score_ranges", table, metrics, supervised_metrics())
    values = over_seeds(read_runs("score_ranges", table, metrics), metrics, over)
    rows = []
    for metric in metrics:
        for (data, recipe), group in grouped(values, ("data", "recipe")):
            scores = group[metric].dropna().to_numpy()
            five = np.quantile(scores, (0, 0.25, 0.5, 0.75, 1)) if len(scores) else np.full(5, np.nan)
            rows.append((metric, data, recipe, len(scores), *five))
    columns = ["metric", "data", "recipe", "count", "minimum", "lower", "median", "upper", "maximum"]
    return extra("pandas", "study").DataFrame(rows, columns=columns)
