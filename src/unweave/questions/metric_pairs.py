"""How are two disentanglement metrics related, model by model? See Locatello et al. 2019, sec. 5.3, figure 5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unweave.errors import unknown
from unweave.names import words
from unweave.questions._question import Question, draw_points, pair_points
from unweave.study.columns import choose_metrics, read_runs

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


def metric_pairs(table: pandas.DataFrame, *, metrics: Sequence[str] | None = None) -> pandas.DataFrame:
    """Every two metrics of every model, as points for scatter plots (figure 5).

    Needs the columns of :func:`metric_agreement`. Returns one row per model and unordered pair of metrics: ``data``,
    ``recipe``, ``strength``, ``seed``, ``x``, ``y`` (names of the metrics), ``x_value``, ``y_value``.

    Examples:
        >>> import pandas
        >>> from unweave.questions import metric_pairs
        >>> table = pandas.DataFrame({
        ...     "data": "dsprites", "recipe": "beta_vae", "strength": 1.0, "seed": [0, 1, 2],
        ...     "mig": [0.1, 0.2, 0.3], "sap": [0.1, 0.3, 0.2]})
        >>> metric_pairs(table)[["x", "y", "x_value", "y_value"]].values.tolist()
        [['mig', 'sap', 0.1, 0.1], ['mig', 'sap', 0.2, 0.3], ['mig', 'sap', 0.3, 0.2]]
    """
    metrics = choose_metrics("metric_pairs", table, metrics, at_least=2)
    runs = read_runs("metric_pairs", table, metrics)
    return pair_points(runs, [(one, other) for i, one in enumerate(metrics) for other in metrics[i + 1 :]])


def draw_metric_pairs(result: pandas.DataFrame, *, data: str | None = None) -> Figure:
    """Draw every pair of metrics on one data set, by default the first (figure 5)."""
    known = [str(name) for name in result["data"].unique()]
    data = known[0] if data is None else data
    if data not in known:
        raise unknown("data set", data, known)
    shown = result[result["data"] == data]
    pairs = shown.assign(pair=shown["x"].map(words) + " (x) and " + shown["y"].map(words) + " (y)", row="")
    others = f", one of {len(known)} data sets" if len(known) > 1 else ""
    return draw_points(pairs, rows="row", columns="pair", title=f"{words(data)}{others}")


METRIC_PAIRS = Question(
    "metric_pairs",
    "Pairs of metrics",
    asks="How are the scores of two metrics related, model by model?",
    reads="One point per model, on the first data set.",
    table=metric_pairs,
    draw=draw_metric_pairs,
    paper="Locatello et al. 2019, figure 5",
    points=True,
)
