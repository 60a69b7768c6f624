"""The form of a question of a study, and points: two scores of every run or setting, with their scatter plots."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unweave.errors import extra
from unweave.figures.drawing.panels import Panels, lay_out, style_methods
from unweave.figures.figure import Figure
from unweave.names import words
from unweave.study.columns import RUN

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure as Drawn

POINT = (*RUN, "x", "y", "x_value", "y_value")


@dataclass(frozen=True)
class Question:
    """A question that a table of runs answers.

    ``table`` is called with a data frame that has one row per run, and with settings as keyword arguments; it returns
    the answer as a data frame, or raises a :class:`~unweave.study.columns.TableError` that says what the runs lack.
    ``draw`` makes a matplotlib figure of the answer.
    """

    name: str
    title: str
    asks: str  # the question as a sentence
    reads: str  # how the figure is read
    table: Callable[..., pandas.DataFrame]
    draw: Callable[[Any], Drawn]
    paper: str = ""  # figures of the papers that it corresponds to
    about_strengths: bool = False  # asks what hyperparameters do, so that reports leave it out where none varies
    points: bool = False  # the table repeats the scores of single runs, so that reports show the figure only

    @property
    def figure(self) -> Figure:
        """The question as a figure of a table of runs."""
        return Figure(self.name, self.asks, "table", self.table, self.draw, paper=self.paper)


def pair_points(runs: pandas.DataFrame, pairs: Sequence[tuple[str, str]]) -> pandas.DataFrame:
    """Return one row per run and pair of scores that are both present.

    Columns: those of the run, ``x`` and ``y`` (the names of the scores), ``x_value`` and ``y_value``.
    """
    parts = [
        runs[list(RUN)].assign(x=x, y=y, x_value=runs[x], y_value=runs[y])[runs[x].notna() & runs[y].notna()]
        for x, y in pairs
    ]
    return extra("pandas", "study").concat(parts, ignore_index=True)[list(POINT)]


def draw_points(
    result: pandas.DataFrame,
    *,
    rows: str,
    columns: str,
    labels: tuple[str, str] = ("", ""),
    diagonal: bool = False,
    title: str = "",
) -> Drawn:
    """Draw one panel per value of the columns ``rows`` and ``columns``, and return the matplotlib figure.

    Args:
        result: A table with a point (``x_value``, ``y_value``) and a ``recipe`` in each row.
        rows: The column with one value per row of panels.
        columns: The column with one value per column of panels.
        labels: The labels of the two axes.
        diagonal: Whether the line is added where both values are equal.
        title: The title of the figure.

    Returns:
        The matplotlib figure.
    """
    styles = style_methods(result["recipe"])
    named = result.assign(**{rows: result[rows].astype(str), columns: result[columns].astype(str)})
    groups = named.groupby([rows, columns, "recipe"], sort=False).indices
    places = {(one, other) for one, other, _ in groups}
    x, y = result["x_value"].to_numpy(), result["y_value"].to_numpy()
    panels = Panels(result[rows].unique(), result[columns].unique())
    for one, other in itertools.product(panels.rows, panels.columns):
        panel = panels[one, other]
        if (one, other) not in places:
            panel.set_axis_off()
        for recipe, style in styles.items():
            if (one, other, recipe) in groups:
                chosen = groups[one, other, recipe]
                panel.plot(x[chosen], y[chosen], **style, linestyle="none", markersize=2.5, alpha=0.7, mew=0)
        if diagonal:
            limits = panel.axis()
            panel.axline((0, 0), slope=1, color="0.6", linewidth=0.8, linestyle="--", zorder=0)
            panel.axis(limits)
    panels.name()
    return lay_out(
        panels.figure,
        panels.axes,
        height=1.3,
        title=title,
        label=words(labels[0]),
        side=words(labels[1]),
        legend=styles,
    )
