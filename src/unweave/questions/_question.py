"""The form of a question of a study, and what several draw: points of two scores, and matrices of rank correlations."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.errors import extra
from unweave.figures.drawing.panels import PAGE, SMALL, TEXT, Panels, lay_out, panel_grid, style_methods
from unweave.figures.drawing.style import DIVERGING
from unweave.figures.drawing.texts import Labels, text_width
from unweave.figures.figure import Figure
from unweave.metrics.scoring.inputs import Floats
from unweave.names import words
from unweave.study.columns import RUN, Over, grouped, over_seeds

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure as Drawn

POINT = (*RUN, "x", "y", "x_value", "y_value")
FEWEST = 3  # pairs of values; two always correlate perfectly
FEW = 12  # points of a panel, which are drawn larger
CELL, HIGH, NUMBERED = 0.4, 0.24, 0.24  # inches of a cell: at most, its height, and from which it has a number
LONGEST, TITLE = 1.8, 1.05  # inches of a name, and of the title of a matrix


@dataclass(frozen=True)
class Question:
    """A question that a table of runs answers.

    ``table`` is called with a data frame that has one row per run, and with settings as keyword arguments; it returns
    the answer as a data frame, or raises a :class:`~unweave.study.columns.TableError` that says what the runs lack.
    ``draw`` makes a matplotlib figure of the answer.

    Examples:
        >>> from unweave.questions import QUESTIONS
        >>> QUESTIONS["metric_agreement"].asks
        'Do the metrics rank models in the same order?'
        >>> QUESTIONS["metric_agreement"].paper
        'Locatello et al. 2019, figure 6'
    """

    name: str
    title: str
    asks: str  # the question as a sentence
    reads: str  # how the figure is read
    table: Callable[..., pandas.DataFrame]
    draw: Callable[[Any], Drawn]
    paper: str = ""  # figures of the papers that it corresponds to
    about_strengths: bool = False  # asks what hyperparameters do, so that reports leave it out where none varies
    points: bool = False  # the table repeats the scores of single runs, so that reports show the figure only

    @property
    def figure(self) -> Figure:
        """The question as a figure of a table of runs."""
        return Figure(self.name, self.asks, "table", self.table, self.draw, paper=self.paper)


def pair_points(runs: pandas.DataFrame, pairs: Sequence[tuple[str, str]]) -> pandas.DataFrame:
    """Return one row per run and pair of scores that are both present.

    Columns: those of the run, ``x`` and ``y`` (the names of the scores), ``x_value`` and ``y_value``.
    """
    parts = [
        runs[list(RUN)].assign(x=x, y=y, x_value=runs[x], y_value=runs[y])[runs[x].notna() & runs[y].notna()]
        for x, y in pairs
    ]
    return extra("pandas", "study").concat(parts, ignore_index=True)[list(POINT)]


def draw_points(
    result: pandas.DataFrame,
    *,
    rows: str,
    columns: str,
    labels: tuple[str, str] = ("", ""),
    diagonal: bool = False,
    title: str = "",
) -> Drawn:
    """Draw one panel per value of the columns ``rows`` and ``columns``, and return the matplotlib figure.

    Args:
        result: A table with a point (``x_value``, ``y_value``) and a ``recipe`` in each row.
        rows: The column with one value per row of panels.
        columns: The column with one value per column of panels.
        labels: The labels of the two axes.
        diagonal: Whether the line is added where both values are equal.
        title: The title of the figure.

    Returns:
        The matplotlib figure.
    """
    styles = style_methods(result["recipe"])
    named = result.assign(**{rows: result[rows].astype(str), columns: result[columns].astype(str)})
    groups = named.groupby([rows, columns, "recipe"], sort=False).indices
    places = {(one, other) for one, other, _ in groups}
    x, y = result["x_value"].to_numpy(), result["y_value"].to_numpy()
    panels = Panels(result[rows].unique(), result[columns].unique())
    size = 4.0 if len(result) <= FEW * len(places) else 2.5
    for one, other in itertools.product(panels.rows, panels.columns):
        panel = panels[one, other]
        if (one, other) not in places:
            panel.set_axis_off()
        for recipe, style in styles.items():
            if (one, other, recipe) in groups:
                chosen = groups[one, other, recipe]
                panel.plot(x[chosen], y[chosen], **style, linestyle="none", markersize=size, alpha=0.7, mew=0)
        if diagonal:
            limits = panel.axis()
            panel.axline((0, 0), slope=1, color="0.6", linewidth=0.8, linestyle="--", zorder=0)
            panel.axis(limits)
    panels.name()
    return lay_out(
        panels.figure,
        panels.axes,
        height=1.3,
        title=title,
        label=words(labels[0]),
        side=words(labels[1]),
        legend=styles,
    )


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


def draw_correlations(result: pandas.DataFrame, *, rows: str, columns: str, panels: str) -> Drawn:
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
