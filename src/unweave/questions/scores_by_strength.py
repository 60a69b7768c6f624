"""Is there a rule of thumb for the regularisation strength? See Locatello et al. 2019, sec. 5.5, figure 8."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.errors import extra
from unweave.figures.drawing.panels import Panels, compact, lay_out, style_methods
from unweave.questions._question import Question
from unweave.study.columns import BACKWARDS, RUN, SETTING, TableError, check_columns, choose_metrics, grouped, read_runs

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


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

    Examples:
        >>> import pandas
        >>> from unweave.questions import scores_by_strength
        >>> table = pandas.DataFrame({
        ...     "data": "dsprites", "recipe": "beta_vae", "strength": [1, 1, 4, 4], "seed": [0, 1, 0, 1],
        ...     "mig": [0.1, 0.2, 0.3, 0.4]})
        >>> scores_by_strength(table)[["strength", "order", "median"]].round(2).values.tolist()
        [[1.0, 1.0, 0.15], [4.0, 2.0, 0.35]]
    """
    metrics = choose_metrics("scores_by_strength", table, metrics)
    return by_strength("scores_by_strength", table, metrics, backwards)


def draw_scores_by_strength(result: pandas.DataFrame) -> Figure:
    """Draw one row of panels per data set and one column per score, and return the matplotlib figure.

    ``result`` is that of :func:`~unweave.questions.scores_by_strength`. Lines are medians over seeds and bands are
    quartiles. The x axis counts the strengths of each method, from weak to strong regularisation.
    """
    return draw_by_strength(result, "metric")


def by_strength(
    question: str, table: pandas.DataFrame, scores: Sequence[str], backwards: Sequence[str]
) -> pandas.DataFrame:
    """Return the table of :func:`scores_by_strength` for any scores.

    Args:
        question: The name of the question, for errors.
        table: The runs.
        scores: The columns of scores.
        backwards: The recipes whose largest strength regularises least.

    Returns:
        One row per score, data set, recipe and strength.
    """
    check_columns(question, table, [*RUN, *scores])
    runs = read_runs(question, table, scores)
    try:
        runs["strength"] = runs["strength"].astype("float64")
    except (TypeError, ValueError):
        raise TableError(question, "the column 'strength' must contain numbers.") from None
    runs = runs[runs["strength"].notna()]
    if not len(runs):
        raise TableError(question, "no run has a strength.")
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


def draw_by_strength(result: pandas.DataFrame, column: str, logarithmic: bool = False) -> Figure:
    """Draw medians and quartiles against the strength, one column of panels per value of ``column``."""
    panels = Panels(result["data"].unique(), result[column].unique())
    styles = style_methods(result["recipe"])
    lines = dict(iter(result.sort_values("order").groupby(["data", column, "recipe"], sort=False)))
    ticks = range(1, int(result["order"].max()) + 1)
    for panel in panels.axes.flat:
        panel.set_xticks(ticks)
        if logarithmic:
            _use_logarithm(panel)
    for place, score, recipe in itertools.product(panels.rows, panels.columns, styles):
        if (line := lines.get((place, score, recipe))) is None:
            continue
        panel, style = panels[place, score], styles[recipe]
        order = line["order"].to_numpy()
        panel.plot(order, line["median"].to_numpy(), **style, markersize=3, linewidth=1)
        lower, upper = line["lower"].to_numpy(), line["upper"].to_numpy()
        panel.fill_between(order, lower, upper, color=style["color"], alpha=0.15, lw=0)
    panels.align(x="all", y="row" if logarithmic else None)
    panels.name()
    look: dict[str, Any] = {"label": "regularisation, weak to strong", "linestyle": "-", "linewidth": 1}
    return lay_out(panels.figure, panels.axes, height=1.25, legend=styles, **look)


def _use_logarithm(panel: Any) -> None:
    from matplotlib.ticker import LogLocator

    panel.set_yscale("log")
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter(compact)


SCORES_BY_STRENGTH = Question(
    "scores_by_strength",
    "Scores against strength",
    asks="Is there a regularisation strength that is good for a method in general?",
    reads="Lines are medians over seeds and bands are quartiles, from weak to strong regularisation.",
    table=scores_by_strength,
    draw=draw_scores_by_strength,
    paper="Locatello et al. 2019, figure 8",
    about_strengths=True,
)
