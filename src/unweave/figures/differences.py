"""Differences between methods with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.figures.panels import COLOURS, SMALL, TEXT, add_legend, panel_grid, words

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


def draw_method_differences(result: pandas.DataFrame, *, level: float = 0.05) -> Figure:
    """Draw one row of panels per data set and one column per score, and return the matplotlib figure.

    ``result`` is that of :func:`~unweave.study.analyses.method_differences`. Differences whose corrected p-value is
    below ``level`` are filled.
    """
    data, scores = result["data"].unique(), result["metric"].unique()
    pairs = list(dict.fromkeys(zip(result["method"], result["other"], strict=True)))
    size = (1.9, 0.17 * len(pairs) + 0.35)
    figure, axes = panel_grid(len(data), len(scores), size=size, margin=(2.2, 0.7), sharex="col", sharey=True)
    for row, place in enumerate(data):
        for column, score in enumerate(scores):
            panel = axes[row, column]
            panel.axvline(0, color="0.5", linewidth=0.8, linestyle="--")
            part = result[(result["data"] == place) & (result["metric"] == score)]
            for line in part.itertuples():
                y = pairs.index((line.method, line.other))
                color = COLOURS[0] if line.p_holm < level else "0.45"
                panel.plot([line.low, line.high], [y, y], color=color, linewidth=1)
                fill = color if line.p_holm < level else "white"
                panel.plot(line.difference, y, marker="o", markersize=3.5, color=color, markerfacecolor=fill)
            panel.set_title(f"{words(score)}\non {words(place)}" if row == 0 else f"on {words(place)}", fontsize=TEXT)
    names = [f"{words(method)} − {words(other)}" for method, other in pairs]
    axes[0, 0].set_yticks(range(len(pairs)), names, fontsize=SMALL)
    axes[0, 0].set_ylim(len(pairs) - 0.5, -0.5)
    kinds = {f"corrected p < {level:g}": COLOURS[0], "not significant": "0.45"}
    add_legend(
        figure,
        {
            name: {"color": color, "marker": "o", "markerfacecolor": color if number == 0 else "white"}
            for number, (name, color) in enumerate(kinds.items())
        },
        label="difference of means",
        linestyle="-",
    )
    return figure
