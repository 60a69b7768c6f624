"""The variance explained by objective, hyperparameter and seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unweave.figures.drawing.panels import COLOURS, TEXT, add_legend, panel_grid
from unweave.names import words

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

SOURCES = {"objective": COLOURS[0], "hyperparameter": COLOURS[4], "seed": COLOURS[7]}
BAR = 0.26


def draw_variance_explained(result: pandas.DataFrame) -> Figure:
    """Draw one panel per score with three bars per data set, and return the matplotlib figure.

    ``result`` is that of :func:`~unweave.questions.variance_explained`. Bars stand beside one another rather than
    on top, because shares can be slightly negative.
    """
    data, scores = result["data"].unique(), result["metric"].unique()
    figure, axes = panel_grid(1, len(scores), size=(1.9, 0.5 * len(data) + 0.3), sharex=True, sharey=True)
    places = np.arange(len(data))
    for panel, score in zip(axes[0], scores, strict=True):
        part = result[result["metric"] == score]
        for number, (source, color) in enumerate(SOURCES.items()):
            shares = part[part["source"] == source].set_index("data")["explained"].reindex(data)
            panel.barh(places + (number - 1) * BAR, shares, height=BAR, color=color, edgecolor="black", linewidth=0.4)
        panel.axvline(0, color="black", linewidth=0.6)
        panel.set_title(words(score, 20), fontsize=TEXT)
    axes[0, 0].set_yticks(places, [words(name) for name in data], fontsize=TEXT)
    axes[0, 0].invert_yaxis()
    styles = {source: {"color": color, "marker": "s"} for source, color in SOURCES.items()}
    add_legend(figure, styles, label="share of the variance", markersize=6)
    return figure
