"""Scatter plots of two scores, one point per model or setting (Locatello et al. 2019, figures 4, 5, 11, 13 and 14)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.errors import unknown
from unweave.figures.drawing.panels import TEXT, add_legend, panel_grid, style_methods
from unweave.names import words

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


def draw_points(
    result: pandas.DataFrame, *, rows: str, columns: str, labels: tuple[str, str] = ("", ""), diagonal: bool = False
) -> Figure:
    """Draw one panel per value of the columns ``rows`` and ``columns``, and return the matplotlib figure.

    ``result`` has a point (``x_value``, ``y_value``) and a ``recipe`` in each row. ``labels`` are those of the two
    axes, and ``diagonal`` adds the line where both values are equal.
    """
    down, across = result[rows].unique(), result[columns].unique()
    styles = style_methods(result["recipe"])
    groups = result.groupby([rows, columns, "recipe"], sort=False).indices
    places = {(one, other) for one, other, _ in groups}
    x, y = result["x_value"].to_numpy(), result["y_value"].to_numpy()
    figure, axes = panel_grid(len(down), len(across), size=(1.8, 1.7))
    for row, one in enumerate(down):
        for column, other in enumerate(across):
            panel = axes[row, column]
            if (one, other) not in places:
                panel.set_axis_off()
            for recipe, style in styles.items():
                if (one, other, recipe) in groups:
                    chosen = groups[one, other, recipe]
                    panel.plot(x[chosen], y[chosen], **style, linestyle="none", markersize=2.5, alpha=0.7, mew=0)
            panel.locator_params(nbins=4)
            if diagonal:
                limits = panel.axis()
                panel.axline((0, 0), slope=1, color="0.6", linewidth=0.8, linestyle="--", zorder=0)
                panel.axis(limits)
    for panel, name in zip(axes[0], across, strict=True):
        panel.set_title(words(name, 20), fontsize=TEXT)
    for row, name in enumerate(down):
        first = next(panel for panel in axes[row] if panel.axison)
        first.set_ylabel(words(name, 20), fontsize=TEXT)
    figure.supylabel(words(labels[1]), fontsize=TEXT)
    add_legend(figure, styles, label=words(labels[0]))
    return figure


def draw_mean_against_sampled(result: pandas.DataFrame) -> Figure:
    """Draw the log total correlation of mean against sampled codes, one panel per data set (figure 4)."""
    labels = (str(result["x"].iloc[0]), str(result["y"].iloc[0]))
    return draw_points(result.assign(y=""), rows="y", columns="data", labels=labels, diagonal=True)


def draw_metric_pairs(result: pandas.DataFrame, *, data: str | None = None) -> Figure:
    """Draw every pair of metrics on one data set, by default the first (figure 5)."""
    known = [str(name) for name in result["data"].unique()]
    data = known[0] if data is None else data
    if data not in known:
        raise unknown("data set", data, known)
    figure = draw_points(result[result["data"] == data], rows="y", columns="x")
    figure.suptitle(words(data), fontsize=TEXT + 1)
    return figure


def draw_transfer_of_scores(result: pandas.DataFrame) -> Figure:
    """Draw scores on one data set against those on the others, one row of panels per metric (figure 11)."""
    labels = (f"score on {result['source'].iloc[0]}", "score on the other data set")
    return draw_points(result, rows="metric", columns="data", labels=labels, diagonal=True)


def draw_efficiency(result: pandas.DataFrame) -> Figure:
    """Draw statistical efficiency against metrics, one row of panels per data set and classifier (figures 13, 14)."""
    short = result["y"].str.replace("downstream.efficiency_", "", regex=False)
    rows = result.assign(row=result["data"].astype(str) + ", " + short)
    return draw_points(rows, rows="row", columns="x", labels=("metric", "statistical efficiency"))
