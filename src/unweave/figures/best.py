"""The scores of the run of each method that a rule without labels picks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.figures.drawing.panels import TEXT, add_legend, panel_grid, style_methods
from unweave.names import words

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


def draw_best(result: pandas.DataFrame) -> Figure:
    """Draw one panel per score with one line per data set and one marker per method; return the matplotlib figure.

    ``result`` is that of :func:`~unweave.questions.best_without_labels`.
    """
    scores = list(result.columns[result.columns.get_loc("among") + 1 :])
    data = list(result["data"].unique())
    styles = style_methods(result["recipe"])
    figure, axes = panel_grid(1, len(scores), size=(1.9, 0.3 * len(data) + 0.4), margin=(1.2, 0.9), sharey=True)
    for panel, score in zip(axes[0], scores, strict=True):
        for y in range(len(data)):
            panel.axhline(y, color="0.9", linewidth=0.8, zorder=0)
        for run in result[["data", "recipe", score]].itertuples(index=False, name=None):
            place, recipe, value = run
            panel.plot(value, data.index(place), markersize=5, linestyle="none", **styles[recipe])
        panel.set_title(words(score, 20), fontsize=TEXT)
    axes[0, 0].set_yticks(range(len(data)), [words(name) for name in data], fontsize=TEXT)
    axes[0, 0].set_ylim(len(data) - 0.5, -0.5)
    add_legend(figure, styles, label=f"score of the run picked by {words(result['rule'].iloc[0])}")
    return figure
