"""Rank correlations as annotated matrices (Locatello et al. 2019, figures 6, 9, 10 and 12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unweave.figures.drawing.panels import SMALL, TEXT, panel_grid
from unweave.names import words

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

CELL = 0.34  # inches


def draw_correlations(result: pandas.DataFrame, *, rows: str, columns: str, panels: str) -> Figure:
    """Draw one matrix per value of the column ``panels`` and return the matplotlib figure.

    ``result`` has the columns ``rows``, ``columns``, ``panels`` and ``correlation``. Numbers are correlations times
    100, as in the paper; undefined ones are marked "–".
    """
    down, across = result[rows].unique(), result[columns].unique()
    shown = result[panels].unique()
    per_row = min(len(shown), max(1, int(11 / (CELL * len(across) + 0.3))))
    size = (CELL * len(across) + 0.25, CELL * len(down) + 0.45)
    figure, axes = panel_grid(-(-len(shown) // per_row), per_row, size=size, margin=(1.6, 1.3))
    for panel in axes.flat[len(shown) :]:
        panel.set_axis_off()
    for place, (panel, name) in enumerate(zip(axes.flat, shown, strict=False)):
        part = result[result[panels] == name].pivot_table(
            index=rows, columns=columns, values="correlation", dropna=False, sort=False
        )
        matrix = part.reindex(index=down, columns=across).to_numpy()
        panel.imshow(matrix, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
        for (row, column), value in np.ndenumerate(matrix):
            text = "–" if np.isnan(value) else str(round(100 * value)).replace("-", "−")
            dark = not np.isnan(value) and abs(value) > 0.65
            panel.text(column, row, text, ha="center", va="center", fontsize=SMALL, color="white" if dark else "black")
        last, first = place + per_row >= len(shown), place % per_row == 0
        panel.set_xticks(range(len(across)) if last else [], [words(x) for x in across] if last else [], rotation=90)
        panel.set_yticks(range(len(down)) if first else [], [words(y) for y in down] if first else [])
        panel.tick_params(length=0)
        panel.set_title(words(name), fontsize=TEXT)
        panel.spines[:].set_visible(False)
    return figure


def draw_metric_agreement(result: pandas.DataFrame) -> Figure:
    """Draw how metrics agree, one matrix per data set (figure 6)."""
    return draw_correlations(result, rows="metric", columns="other", panels="data")


def draw_unsupervised_agreement(result: pandas.DataFrame) -> Figure:
    """Draw scores without labels against metrics, one matrix per data set (figure 9)."""
    return draw_correlations(result, rows="score", columns="metric", panels="data")


def draw_transfer_between_data(result: pandas.DataFrame) -> Figure:
    """Draw the correlations between data sets, one matrix per metric (figure 10)."""
    return draw_correlations(result, rows="data", columns="other", panels="metric")


def draw_downstream_agreement(result: pandas.DataFrame) -> Figure:
    """Draw metrics against downstream accuracy, one matrix per data set (figure 12)."""
    return draw_correlations(result, rows="task", columns="metric", panels="data")


def draw_statistical_efficiency(result: pandas.DataFrame) -> Figure:
    """Draw metrics against statistical efficiency, one matrix per data set."""
    return draw_correlations(result, rows="efficiency", columns="metric", panels="data")
