"""The scores that each method attains (Locatello et al. 2019, figure 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unweave.figures.panels import SMALL, add_titles, panel_grid, style_methods, words

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


def draw_score_ranges(result: pandas.DataFrame) -> Figure:
    """Draw one row of panels per data set and one column per score, and return the matplotlib figure.

    ``result`` is that of :func:`~unweave.study.analyses.score_ranges`. Boxes are quartiles with the median, and
    whiskers reach the minimum and the maximum.
    """
    data, scores = result["data"].unique(), result["metric"].unique()
    styles = style_methods(result["recipe"])
    figure, axes = panel_grid(len(data), len(scores), sharex=True, sharey="col", margin=(0.9, 1.2))
    for row, place in enumerate(data):
        for column, score in enumerate(scores):
            panel = axes[row, column]
            part = result[(result["data"] == place) & (result["metric"] == score)].set_index("recipe")
            for position, (recipe, style) in enumerate(styles.items()):
                if recipe not in part.index or np.isnan(part.loc[recipe, "median"]):
                    continue
                low, lower, median, upper, high = part.loc[recipe, ["minimum", "lower", "median", "upper", "maximum"]]
                box = {"med": median, "q1": lower, "q3": upper, "whislo": low, "whishi": high}
                panel.bxp(
                    [box],
                    positions=[position],
                    widths=0.6,
                    showfliers=False,
                    patch_artist=True,
                    manage_ticks=False,
                    boxprops={"facecolor": style["color"], "alpha": 0.6, "linewidth": 0.6},
                    medianprops={"color": "black", "linewidth": 1.2},
                    whiskerprops={"linewidth": 0.8},
                    capprops={"linewidth": 0.8},
                )
            panel.set_xticks(range(len(styles)), [words(recipe) for recipe in styles], rotation=90, fontsize=SMALL)
            panel.set_xlim(-0.6, len(styles) - 0.4)
    add_titles(axes, data, scores)
    return figure
