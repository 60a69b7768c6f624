"""Differences between methods with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.figures.drawing.panels import COLOURS, SMALL, TEXT, add_legend, align, panel_grid
from unweave.metrics.scoring.inputs import Integers
from unweave.names import words

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


def draw_method_differences(result: pandas.DataFrame, *, level: float = 0.05) -> Figure:
    """Draw one row of panels per data set and one column per score, and return the matplotlib figure.

    ``result`` is that of :func:`~unweave.questions.method_differences`. Differences whose corrected p-value is
    below ``level`` are filled.
    """
    data, scores = result["data"].unique(), result["metric"].unique()
    pairs = list(dict.fromkeys(zip(result["method"], result["other"], strict=True)))
    size = (1.9, 0.17 * len(pairs) + 0.35)
    figure, axes = panel_grid(len(data), len(scores), size=size, margin=(2.2, 0.7))
    places = {pair: place for place, pair in enumerate(pairs)}
    parts = dict(iter(result.groupby(["data", "metric"], sort=False)))
    names = [f"{words(method)} − {words(other)}" for method, other in pairs]
    for row, place in enumerate(data):
        for column, score in enumerate(scores):
            panel = axes[row, column]
            panel.axvline(0, color="0.5", linewidth=0.8, linestyle="--")
            if (part := parts.get((place, score))) is not None:
                y = np.array([places[pair] for pair in zip(part["method"], part["other"], strict=True)])
                _draw_intervals(panel, part, y, (part["p_holm"] < level).to_numpy())
            panel.set_title(f"{words(score)}\non {words(place)}" if row == 0 else f"on {words(place)}", fontsize=TEXT)
            panel.set_yticks(range(len(pairs)), names if column == 0 else [""] * len(pairs), fontsize=SMALL)
            panel.set_ylim(len(pairs) - 0.5, -0.5)
    align(axes, x="col")
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


def _draw_intervals(panel: Any, part: pandas.DataFrame, y: Integers, significant: Any) -> None:
    for chosen, color, fill in ((significant, COLOURS[0], COLOURS[0]), (~significant, "0.45", "white")):
        some = part[chosen]
        panel.hlines(y[chosen], some["low"], some["high"], color=color, linewidth=1)
        panel.plot(
            some["difference"], y[chosen], marker="o", markersize=3.5, color=color, markerfacecolor=fill, linestyle=""
        )
