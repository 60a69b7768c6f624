"""Scores against the regularisation strength (Locatello et al. 2019, figures 2, 3, 8, 15 and 16)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unweave.figures.drawing.panels import add_legend, add_titles, align, panel_grid, style_methods

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


def draw_scores_by_strength(result: pandas.DataFrame) -> Figure:
    """Draw one row of panels per data set and one column per score, and return the matplotlib figure.

    ``result`` is that of :func:`~unweave.questions.scores_by_strength`. Lines are medians over seeds and bands are
    quartiles. The x axis counts the strengths of each method, from weak to strong regularisation.
    """
    return _draw(result, "metric")


def draw_total_correlation(result: pandas.DataFrame) -> Figure:
    """Draw the total correlation of mean and sampled codes on a logarithmic scale, and return the matplotlib figure.

    ``result`` is that of :func:`~unweave.questions.total_correlation_by_strength`.
    """
    return _draw(result.assign(codes="total correlation, " + result["codes"]), "codes", logarithmic=True)


def _draw(result: pandas.DataFrame, column: str, logarithmic: bool = False) -> Figure:
    data, scores = result["data"].unique(), result[column].unique()
    styles = style_methods(result["recipe"])
    lines = dict(iter(result.sort_values("order").groupby(["data", column, "recipe"], sort=False)))
    ticks = range(1, int(result["order"].max()) + 1)
    figure, axes = panel_grid(len(data), len(scores))
    for row, place in enumerate(data):
        for number, score in enumerate(scores):
            panel = axes[row, number]
            if logarithmic:
                _use_logarithm(panel)
            for recipe, style in styles.items():
                line = lines.get((place, score, recipe))
                if line is None:
                    continue
                order = line["order"].to_numpy()
                panel.plot(order, line["median"].to_numpy(), **style, markersize=3, linewidth=1)
                lower, upper = line["lower"].to_numpy(), line["upper"].to_numpy()
                panel.fill_between(order, lower, upper, color=style["color"], alpha=0.15, lw=0)
            panel.set_xticks(ticks)
            if not logarithmic:
                panel.locator_params(axis="y", nbins=4)
    align(axes, x="all", y="row" if logarithmic else "col")
    add_titles(axes, data, scores)
    add_legend(figure, styles, label="regularisation, weak to strong", linestyle="-", linewidth=1)
    return figure


def _use_logarithm(panel: Any) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    panel.set_yscale("log")
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    panel.yaxis.set_minor_formatter(NullFormatter())
