"""Spearman's rank correlations between scores, and how they are drawn: one annotated matrix per panel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.errors import extra
from unweave.figures.drawing.panels import PAGE, SMALL, TEXT, lay_out, panel_grid
from unweave.figures.drawing.style import DIVERGING
from unweave.figures.drawing.texts import Labels, text_width
from unweave.metrics.scoring.inputs import Floats
from unweave.names import words
from unweave.study.columns import Over, grouped, over_seeds

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

FEWEST = 3  # pairs of values; two always correlate perfectly
CELL, HIGH, NUMBERED = 0.4, 0.24, 0.24  # inches of a cell: at most, its height, and from which it has a number
LONGEST, TITLE = 1.8, 1.05  # inches of a name, and of the title of a matrix


def rank_correlation(one: Floats, other: Floats) -> float:
    """Pearson correlation of the ranks, where tied values share their average rank.

    Pairs with a missing value are left out. The result is NaN for fewer than three pairs or if one side is constant.
    """
    from scipy.stats import rankdata

    both = np.isfinite(one) & np.isfinite(other)
    return _correlation(*(rankdata(values[both]) for values in (one, other)))


def correlate(
    runs: pandas.DataFrame, these: Sequence[str], those: Sequence[str], over: Over, names: tuple[str, str]
) -> pandas.DataFrame:
    """Return one row per data set and pair of scores: ``data``, the two ``names``, ``correlation`` and ``count``.

    Args:
        runs: The runs.
        these: The columns of the first score of a pair.
        those: The columns of the second.
        over: ``"models"`` correlates one value per model, ``"medians"`` the medians over seeds.
        names: The columns of the result that name the two scores.

    Returns:
        The correlations; ``count`` is the number of models, or of medians over seeds, that have both scores.
    """
    from scipy.stats import rankdata

    values = over_seeds(runs, list(dict.fromkeys([*these, *those])), over)
    rows = []
    for data, group in grouped(values, ("data",)):
        columns = {name: group[name].to_numpy() for name in (*these, *those)}
        ranks = {name: rankdata(column) for name, column in columns.items() if np.isfinite(column).all()}  # once each
        for one in these:
            for other in those:
                a, b = columns[one], columns[other]
                known = one in ranks and other in ranks
                correlation = _correlation(ranks[one], ranks[other]) if known else rank_correlation(a, b)
                rows.append((data[0], one, other, correlation, int((np.isfinite(a) & np.isfinite(b)).sum())))
    return extra("pandas", "study").DataFrame(rows, columns=["data", *names, "correlation", "count"])


def draw_correlations(result: pandas.DataFrame, *, rows: str, columns: str, panels: str) -> Figure:
    """Draw one matrix per value of the column ``panels`` and return the matplotlib figure.

    Numbers are correlations times 100, as in the paper; undefined ones are marked "–".

    Args:
        result: A table with the column ``correlation`` and the three columns below.
        rows: The column that names the rows of a matrix.
        columns: The column that names its columns.
        panels: The column with one value per matrix.

    Returns:
        The matplotlib figure.
    """
    down, across, shown = result[rows].unique(), result[columns].unique(), result[panels].unique()
    shortened = Labels()
    names = [shortened.fit(words(name), LONGEST, SMALL) for name in down]
    below = [shortened.fit(words(name), LONGEST, SMALL) for name in across]
    room = PAGE - max(text_width(name, SMALL) for name in names) - 0.3
    cell = min(CELL, room / len(across))
    per_row = max(1, min(len(shown), int(room / max(cell * len(across) + 0.12, TITLE))))
    figure, axes = panel_grid(-(-len(shown) // per_row), per_row)
    for panel in axes.flat[len(shown) :]:
        panel.set_axis_off()
    image: Any = None
    for place, (panel, name) in enumerate(zip(axes.flat, shown, strict=False)):
        part = result[result[panels] == name].pivot_table(
            index=rows, columns=columns, values="correlation", dropna=False, sort=False
        )
        matrix = part.reindex(index=down, columns=across).to_numpy()
        image = panel.imshow(matrix, cmap=DIVERGING, vmin=-1, vmax=1, aspect="auto")
        for (row, column), value in np.ndenumerate(matrix if cell >= NUMBERED else np.empty((0, 0))):
            text = "–" if np.isnan(value) else str(round(100 * value)).replace("-", "−")
            dark = not np.isnan(value) and abs(value) > 0.65
            panel.text(column, row, text, ha="center", va="center", fontsize=SMALL, color="white" if dark else "black")
        last, first = place + per_row >= len(shown), place % per_row == 0
        panel.set_xticks(range(len(across)), below if last else [""] * len(below), rotation=90, fontsize=SMALL)
        panel.set_yticks(range(len(down)), names if first else [""] * len(names), fontsize=SMALL)
        panel.tick_params(length=0)
        panel.set_title(words(name), fontsize=TEXT)
        panel.spines[:].set_visible(False)
    scale = (image, "Spearman's rank correlation")
    caption = "Numbers are correlations times 100; – is undefined." if cell >= NUMBERED else ""
    width = max(cell * len(across), TITLE if len(shown) > 1 else 0.0)
    look: dict[str, Any] = {"labels": shortened, "scale": scale, "caption": caption}
    return lay_out(figure, axes, height=HIGH * len(down), width=width, **look)


def _correlation(a: Floats, b: Floats) -> float:
    """Pearson correlation of ranks (n,); NaN for fewer than three or if one side is constant."""
    if len(a) < FEWEST:
        return float("nan")
    a, b = a - a.mean(), b - b.mean()
    scale = np.sqrt((a @ a) * (b @ b))
    return float(np.clip(a @ b / scale, -1, 1)) if scale > 0 else float("nan")
