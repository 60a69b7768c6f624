"""Do methods enforce factorising codes? See Locatello et al. 2019, sec. 5.2, figures 2 to 4, 15, 16."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unweave.questions.points import pair_points
from unweave.questions.runs import BACKWARDS, read_runs
from unweave.questions.strengths import by_strength

if TYPE_CHECKING:
    import pandas

MEAN, SAMPLED = "total_correlation", "total_correlation_sampled"


def total_correlation_by_strength(
    table: pandas.DataFrame,
    *,
    mean: str = MEAN,
    sampled: str = SAMPLED,
    backwards: Sequence[str] = BACKWARDS,
) -> pandas.DataFrame:
    """Median and quartiles of the Gaussian total correlation of mean and of sampled codes, against the strength.

    Needs ``data``, ``recipe``, ``strength``, ``seed`` and the columns named by ``mean`` and ``sampled``. The paper
    reports the median over seeds (figures 2, 3, 15 and 16); the quartiles are added.

    Returns the columns of :func:`~unweave.questions.scores_by_strength`, with ``codes`` (``"mean"`` or
    ``"sampled"``) in place of ``metric``. ``order`` counts from the weakest to the strongest regularisation and runs
    backwards for the recipes in ``backwards`` (AnnealedVAE, whose strength is a capacity).
    """
    result = by_strength("total_correlation_by_strength", table, [mean, sampled], backwards)
    result["metric"] = result["metric"].map({mean: "mean", sampled: "sampled"})
    return result.rename(columns={"metric": "codes"})


def mean_against_sampled(table: pandas.DataFrame, *, mean: str = MEAN, sampled: str = SAMPLED) -> pandas.DataFrame:
    """Natural logarithm of the total correlation of sampled codes (x) and of mean codes (y), for each model (figure 4).

    Needs the columns of :func:`total_correlation_by_strength`. Models with a total correlation of 0 have no logarithm
    and are left out. Returns ``data``, ``recipe``, ``strength``, ``seed``, ``x``, ``y``, ``x_value``, ``y_value``.
    Models above the diagonal have mean codes that are less factorised than the sampled ones.
    """
    runs = read_runs("mean_against_sampled", table, [mean, sampled])
    names = {sampled: "log total correlation, sampled", mean: "log total correlation, mean"}
    for column, name in names.items():
        positive = runs[column].where(runs[column] > 0)
        runs[name] = np.log(positive.to_numpy())
    return pair_points(runs, [(names[sampled], names[mean])])
