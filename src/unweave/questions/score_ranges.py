"""What matters more, the method or its hyperparameters? See Locatello et al. 2019, sec. 5.4, figure 7."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.errors import extra
from unweave.figures.drawing.panels import ACROSS, SMALL, Panels, lay_out, style_methods
from unweave.figures.drawing.texts import Labels
from unweave.metrics.scoring.inputs import Integers
from unweave.names import words
from unweave.questions._question import Question
from unweave.study.columns import Over, choose_metrics, grouped, over_seeds, read_runs

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

LONGEST = 1.3  # inches of the name of a method


def score_ranges(
    table: pandas.DataFrame, *, metrics: Sequence[str] | None = None, over: Over = "medians"
) -> pandas.DataFrame:
    """Range and quartiles of the scores that each method attains on each data set (figure 7).

    Needs ``data``, ``recipe``, ``strength``, ``seed`` and at least one score; by default all disentanglement metrics of
    Unweave that the table has. Section 5.4 takes the median over seeds, so that a range shows the influence of the
    hyperparameter alone; this is the default. ``over="models"`` has one value per model and includes the seeds.

    Returns one row per score, data set and recipe: ``metric``, ``data``, ``recipe``, ``count``, ``minimum``, ``lower``,
    ``median``, ``upper``, ``maximum``. Quartiles are interpolated linearly. All are NaN if there is no value.

    Examples:
        >>> import pandas
        >>> from unweave.questions import score_ranges
        >>> table = pandas.DataFrame({
        ...     "data": "dsprites", "recipe": ["ae", "vae", "vae"], "strength": [0, 1, 4], "seed": 0,
        ...     "mig": [0.1, 0.2, 0.4]})
        >>> score_ranges(table)[["recipe", "minimum", "median", "maximum"]].round(2).values.tolist()
        [['ae', 0.1, 0.1, 0.1], ['vae', 0.2, 0.3, 0.4]]
    """
    metrics = choose_metrics("score_ranges", table, metrics)
    values = over_seeds(read_runs("score_ranges", table, metrics), metrics, over)
    rows = []
    for metric in metrics:
        for (data, recipe), group in grouped(values, ("data", "recipe")):
            scores = group[metric].dropna().to_numpy()
            five = np.quantile(scores, (0, 0.25, 0.5, 0.75, 1)) if len(scores) else np.full(5, np.nan)
            rows.append((metric, data, recipe, len(scores), *five))
    columns = ["metric", "data", "recipe", "count", "minimum", "lower", "median", "upper", "maximum"]
    return extra("pandas", "study").DataFrame(rows, columns=columns)


def draw_score_ranges(result: pandas.DataFrame) -> Figure:
    """Draw one row of panels per data set and one column per score, and return the matplotlib figure.

    ``result`` is that of :func:`~unweave.questions.score_ranges`. Boxes are quartiles with the median, and
    whiskers reach the minimum and the maximum. Each panel has its own scale.
    """
    styles = style_methods(result["recipe"])
    shortened = Labels()
    panels = Panels(result["data"].unique(), result["metric"].unique(), most=max(1, min(ACROSS, 36 // len(styles))))
    parts = dict(iter(result[result["median"].notna()].groupby(["data", "metric"], sort=False)))
    positions = {recipe: position for position, recipe in enumerate(styles)}
    names = [shortened.fit(words(recipe), LONGEST, SMALL) for recipe in styles]
    for (place, score), part in parts.items():
        _draw_boxes(panels[place, score], part, part["recipe"].map(positions).to_numpy(), styles)
    for panel in panels.axes.flat:
        panel.set_xticks(range(len(styles)), names, rotation=90, fontsize=SMALL)
        panel.set_xlim(-0.6, len(styles) - 0.4)
    panels.align(x="all")
    panels.name()
    return lay_out(panels.figure, panels.axes, height=1.2, labels=shortened)


def _draw_boxes(panel: Any, part: pandas.DataFrame, x: Integers, styles: dict[str, dict[str, Any]]) -> None:
    """Draw all boxes of a panel with a few artists; one box plot per method would take many."""
    low, lower, median, upper, high = (
        part[name].to_numpy() for name in ("minimum", "lower", "median", "upper", "maximum")
    )
    panel.vlines(x, low, lower, color="black", linewidth=0.8)
    panel.vlines(x, upper, high, color="black", linewidth=0.8)
    panel.hlines([*low, *high], [*(x - 0.15), *(x - 0.15)], [*(x + 0.15), *(x + 0.15)], color="black", linewidth=0.8)
    colours = [styles[recipe]["color"] for recipe in part["recipe"]]
    panel.bar(x, upper - lower, bottom=lower, width=0.6, color=colours, alpha=0.6, edgecolor="black", linewidth=0.6)
    panel.hlines(median, x - 0.3, x + 0.3, color="black", linewidth=1.2)


SCORE_RANGES = Question(
    "score_ranges",
    "Score ranges",
    asks="How much do the scores of a method vary over its hyperparameters, and how much do methods overlap?",
    reads="Each strength counts once, with the median over its seeds. Boxes are quartiles with the median; "
    "whiskers reach the lowest and the highest score.",
    table=score_ranges,
    draw=draw_score_ranges,
    paper="Locatello et al. 2019, figure 7",
    about_strengths=True,
)
