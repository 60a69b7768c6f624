"""The probability of beating random model selection as a table of four cells (Locatello et al. 2019, Table 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unweave.figures.drawing.panels import TEXT, panel_grid

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

ROWS, COLUMNS = ("different", "same"), ("different", "same")


def draw_beating_random(result: pandas.DataFrame) -> Figure:
    """Draw the four cells, each with its probability and the chance level, and return the matplotlib figure.

    ``result`` is that of :func:`~unweave.questions.beating_random`. Colours show the distance from chance.
    """
    cells = result.set_index(["metric", "data"])
    figure, axes = panel_grid(1, 1, size=(3.0, 1.6), margin=(1.3, 0.5))
    panel = axes[0, 0]
    gain = np.array([[cells.loc[(m, d), "probability"] - cells.loc[(m, d), "chance"] for d in COLUMNS] for m in ROWS])
    panel.imshow(gain, cmap="RdBu_r", vmin=-0.5, vmax=0.5, aspect="auto")
    for row, metric in enumerate(ROWS):
        for column, data in enumerate(COLUMNS):
            probability, chance = cells.loc[(metric, data), ["probability", "chance"]]
            text = "–" if np.isnan(probability) else f"{probability:.1%}\nchance {chance:.1%}"
            color = "white" if abs(gain[row, column]) > 0.33 else "black"
            panel.text(column, row, text, ha="center", va="center", fontsize=TEXT, color=color)
    panel.set_xticks(range(2), [f"{name} data set" for name in COLUMNS], fontsize=TEXT)
    panel.set_yticks(range(2), [f"{name} metric" for name in ROWS], fontsize=TEXT)
    panel.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    panel.spines[:].set_visible(False)
    return figure
