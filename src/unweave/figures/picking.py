"""What a rule without labels picks, between the mean and the best run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unweave.figures.drawing.panels import COLOURS, SMALL, TEXT, add_legend, panel_grid
from unweave.names import words

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

LOOKS: dict[str, dict[str, Any]] = {
    "mean": {"color": "0.45", "marker": "o", "markerfacecolor": "white"},
    "picked": {"color": COLOURS[1], "marker": "D"},
    "best": {"color": COLOURS[0], "marker": "s"},
}


def draw_picked(result: pandas.DataFrame) -> Figure:
    """Draw one panel per score with one line per group, and return the matplotlib figure.

    ``result`` is that of :func:`~unweave.questions.picked_by_udr`. The line reaches from the mean of the runs,
    which a random pick attains on average, to the best run.
    """
    keys = list(result.columns[: result.columns.get_loc("metric")])
    groups = result[keys].astype(str).agg(", ".join, axis=1)
    names, scores = list(dict.fromkeys(groups)), result["metric"].unique()
    figure, axes = panel_grid(1, len(scores), size=(1.9, 0.2 * len(names) + 0.4), margin=(1.8, 0.7), sharey=True)
    for panel, score in zip(axes[0], scores, strict=True):
        part = result[result["metric"] == score]
        y = groups[part.index].map({name: place for place, name in enumerate(names)})
        panel.hlines(y, part["mean"], part["best"], color="0.75", linewidth=1, zorder=0)
        for kind, look in LOOKS.items():
            panel.plot(part[kind], y, markersize=4, linestyle="none", **look)
        panel.set_title(words(score, 20), fontsize=TEXT)
    axes[0, 0].set_yticks(range(len(names)), [words(name) for name in names], fontsize=SMALL)
    axes[0, 0].set_ylim(len(names) - 0.5, -0.5)
    add_legend(figure, LOOKS)
    return figure
