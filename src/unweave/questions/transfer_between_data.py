"""Do good hyperparameters transfer to other data sets? See Locatello et al. 2019, sec. 5.5, figure 10."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.errors import extra
from unweave.questions._question import Question, draw_correlations, rank_correlation
from unweave.study.columns import SETTING, TableError, choose_metrics, over_seeds, read_runs

if TYPE_CHECKING:
    import pandas


def transfer_between_data(table: pandas.DataFrame, *, metrics: Sequence[str] | None = None) -> pandas.DataFrame:
    """Spearman's rank correlation of each metric between every two data sets, over settings (figure 10).

    Needs ``data`` (at least two), ``recipe``, ``strength``, ``seed`` and at least one metric. A setting is a recipe
    with a strength; its score is the median over seeds, as in the paper. Settings are paired by recipe and strength,
    and those that were not trained on both data sets are left out. Ties have average ranks.

    Returns one row per metric and ordered pair of data sets: ``metric``, ``data``, ``other``, ``correlation``,
    ``count`` (settings). The correlation is NaN for fewer than three settings or if all scores are equal.

    Examples:
        >>> import pandas
        >>> from unweave.questions import transfer_between_data
        >>> table = pandas.DataFrame({
        ...     "data": ["dsprites", "dsprites", "dsprites", "cars3d", "cars3d", "cars3d"],
        ...     "recipe": "beta_vae", "strength": [1, 2, 4, 1, 2, 4], "seed": 0,
        ...     "mig": [0.1, 0.2, 0.3, 0.2, 0.1, 0.3]})
        >>> transfer_between_data(table)[["data", "other", "correlation"]].values.tolist()[:2]
        [['dsprites', 'dsprites', 1.0], ['dsprites', 'cars3d', 0.5]]
    """
    metrics = choose_metrics("transfer_between_data", table, metrics)
    medians = medians_by_data("transfer_between_data", table, metrics)
    settings = extra("pandas", "study").concat([part[[]] for part in medians.values()]).index.drop_duplicates()
    rows = []
    for metric in metrics:
        values = {data: part[metric].reindex(settings).to_numpy() for data, part in medians.items()}  # (settings,) each
        for one, first in values.items():
            for other, second in values.items():
                count = int((np.isfinite(first) & np.isfinite(second)).sum())
                rows.append((metric, one, other, rank_correlation(first, second), count))
    return extra("pandas", "study").DataFrame(rows, columns=["metric", "data", "other", "correlation", "count"])


def medians_by_data(question: str, table: pandas.DataFrame, metrics: Sequence[str]) -> dict[Any, pandas.DataFrame]:
    """Return the medians over seeds for each data set, indexed by recipe and strength."""
    runs = read_runs(question, table, metrics)
    medians = over_seeds(runs, metrics, "medians")
    if medians["data"].nunique() < 2:
        raise TableError(question, "needs at least two data sets, and the table has one.")
    return {
        data: medians[medians["data"] == data].set_index(list(SETTING))[list(metrics)]
        for data in medians["data"].unique()
    }


TRANSFER_BETWEEN_DATA = Question(
    "transfer_between_data",
    "Transfer between data sets",
    asks="Do hyperparameters that are good on one data set remain good on another?",
    reads="Spearman's rank correlation times 100 of the median scores of settings, between every two data sets.",
    table=transfer_between_data,
    draw=partial(draw_correlations, rows="data", columns="other", panels="metric"),
    paper="Locatello et al. 2019, figure 10",
    about_strengths=True,
)
