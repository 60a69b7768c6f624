"""How do the scores of a setting on two data sets relate? See Locatello et al. 2019, sec. 5.5, figure 11."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unweave.errors import extra, unknown
from unweave.questions._question import Question, draw_points
from unweave.questions.transfer_between_data import medians_by_data
from unweave.study.columns import SETTING, choose_metrics

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


def transfer_of_scores(
    table: pandas.DataFrame, *, source: str | None = None, metrics: Sequence[str] | None = None
) -> pandas.DataFrame:
    """Median score of each setting on one data set (x) and on every other data set (y), for each metric (figure 11).

    Needs the columns of :func:`transfer_between_data`. ``source`` is the data set on the x axis, by default the first
    of the table (dSprites in the paper).

    Returns one row per metric, other data set and setting: ``metric``, ``source``, ``data``, ``recipe``, ``strength``,
    ``x_value``, ``y_value``.

    Examples:
        >>> import pandas
        >>> from unweave.questions import transfer_of_scores
        >>> table = pandas.DataFrame({
        ...     "data": ["dsprites", "dsprites", "cars3d", "cars3d"], "recipe": "beta_vae",
        ...     "strength": [1, 4, 1, 4], "seed": 0, "mig": [0.1, 0.2, 0.3, 0.4]})
        >>> transfer_of_scores(table)[["source", "data", "strength", "x_value", "y_value"]].values.tolist()
        [['dsprites', 'cars3d', 1, 0.1, 0.3], ['dsprites', 'cars3d', 4, 0.2, 0.4]]
    """
    metrics = choose_metrics("transfer_of_scores", table, metrics)
    medians = medians_by_data("transfer_of_scores", table, metrics)
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


def draw_transfer_of_scores(result: pandas.DataFrame) -> Figure:
    """Draw scores on one data set against those on the others, one row of panels per other data set (figure 11)."""
    other = result["data"].unique()
    labels = (
        f"score on {result['source'].iloc[0]}",
        f"score on {other[0] if len(other) == 1 else 'the other data set'}",
    )
    return draw_points(result, rows="data", columns="metric", labels=labels, diagonal=True)


def _paired(one: pandas.Series, other: pandas.Series) -> pandas.DataFrame:
    """Return the settings with a score on both data sets."""
    return one.to_frame("x_value").join(other.to_frame("y_value"), how="inner").dropna()


TRANSFER_OF_SCORES = Question(
    "transfer_of_scores",
    "Scores on two data sets",
    asks="How does the score of a setting on one data set relate to its score on the others?",
    reads="One point per method and strength: the median over seeds on the first data set and on another one.",
    table=transfer_of_scores,
    draw=draw_transfer_of_scores,
    paper="Locatello et al. 2019, figure 11",
    points=True,
    about_strengths=True,
)
