"""Are mean codes as independent as sampled codes? See Locatello et al. 2019, sec. 5.2, figure 4."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unweave.questions._question import Question, draw_points, pair_points
from unweave.questions.total_correlation_by_strength import MEAN, SAMPLED
from unweave.study.columns import read_runs

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


def mean_against_sampled(table: pandas.DataFrame, *, mean: str = MEAN, sampled: str = SAMPLED) -> pandas.DataFrame:
    """Natural logarithm of the total correlation of sampled codes (x) and of mean codes (y), for each model (figure 4).

    Needs the columns of :func:`total_correlation_by_strength`. Models with a total correlation of 0 have no logarithm
    and are left out. Returns ``data``, ``recipe``, ``strength``, ``seed``, ``x``, ``y``, ``x_value``, ``y_value``.
    Models above the diagonal have mean codes that are less factorised than the sampled ones.

    Examples:
        >>> import pandas
        >>> from unweave.questions import mean_against_sampled
        >>> table = pandas.DataFrame({
        ...     "data": "dsprites", "recipe": "beta_vae", "strength": 1.0, "seed": [0, 1, 2],
        ...     "total_correlation": [1, 2, 4], "total_correlation_sampled": [1, 1, 2]})
        >>> mean_against_sampled(table)[["x_value", "y_value"]].round(2).values.tolist()
        [[0.0, 0.0], [0.0, 0.69], [0.69, 1.39]]
    """
    runs = read_runs("mean_against_sampled", table, [mean, sampled])
    names = {sampled: "log total correlation, sampled", mean: "log total correlation, mean"}
    for column, name in names.items():
        positive = runs[column].where(runs[column] > 0)
        runs[name] = np.log(positive.to_numpy())
    return pair_points(runs, [(names[sampled], names[mean])])


def draw_mean_against_sampled(result: pandas.DataFrame) -> Figure:
    """Draw the log total correlation of mean against sampled codes, one panel per data set (figure 4)."""
    labels = (str(result["x"].iloc[0]), str(result["y"].iloc[0]))
    return draw_points(result.assign(y=""), rows="y", columns="data", labels=labels, diagonal=True)


MEAN_AGAINST_SAMPLED = Question(
    "mean_against_sampled",
    "Mean against sampled codes",
    asks="Are the mean codes of a model as independent as its sampled codes?",
    reads="One point per model. Above the dashed diagonal, the mean codes depend on each other more than the "
    "sampled codes do.",
    table=mean_against_sampled,
    draw=draw_mean_against_sampled,
    paper="Locatello et al. 2019, figure 4",
    points=True,
)
