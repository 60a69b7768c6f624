"""Scores against the regularisation strength (Locatello et al. 2019, figures 2, 3, 8, 15 and 16)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.figures.panels import add_legend, add_titles, panel_grid, style_methods

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


def draw_scores_by_strength(result: pandas.DataFrame) -> Figure:
    """Draw one row of panels per data set and one column per score, and return the matplotlib figure.

    ``result`` is that of :func:`~unweave.study.analyses.scores_by_strength`. Lines are medians over seeds and bands are
    quartiles. The x axis counts the strengths of each method, from weak to strong regularisation.
    """
    return _draw(result, "metric")


def draw_total_correlation(result: pandas.DataFrame) -> Figure:
    """Draw the total correlation of mean and sampled codes on a logarithmic scale, and return the matplotlib figure.

    ``result`` is that of :func:`~unweave.study.analyses.total_correlation_by_strength`.
    """
    figure = _draw(result.assign(codes="total correlation, " + result["codes"]), "codes", sharey="row")
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    for panel in figure.axes:
        panel.set_yscale("log")
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        panel.yaxis.set_minor_formatter(NullFormatter())
    return figure


def _draw(result: pandas.DataFrame, column: str, sharey: str = "col") -> Figure:
    data, scores = result["data"].unique(), result[column].unique()
    styles = style_methods(result["recipe"])
    figure, axes = panel_grid(len(data), len(scores), sharex=True, sharey=sharey)
    for row, place in enumerate(data):
        for number, score in enumerate(scores):
            part = result[(result["data"] == place) & (result[column] == score)]
            panel = axes[row, number]
            for recipe, style in styles.items():
                line = part[part["recipe"] == recipe].sort_values("order")
                panel.plot(line["order"], line["median"], **style, markersize=3, linewidth=1)
                panel.fill_between(line["order"], line["lower"], line["upper"], color=style["color"], alpha=0.15, lw=0)
            panel.set_xticks(range(1, int(result["order"].max()) + 1))
    add_titles(axes, data, scores)
    add_legend(figure, styles, label="regularisation, weak to strong", linestyle="-", linewidth=1)
    return figure
