"""Strip plots: the scores of every run, one strip per method (Rhodes & Lee 2021, figure 5)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unweave.figures.drawing.panels import ACROSS, SMALL, Panels, lay_out, style_methods
from unweave.figures.drawing.texts import Labels
from unweave.figures.figure import check_scored, method_column
from unweave.names import words
from unweave.study.columns import read_runs

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

WIDTH = 0.28  # of the strip on each side
LONGEST = 1.3  # inches of the name of a method


@dataclass(frozen=True)
class Strips:
    """One row per run and score: ``data``, ``method``, ``metric``, ``score``."""

    frame: pandas.DataFrame


def make_score_strips(table: pandas.DataFrame, *, metrics: Sequence[str] = (), by: str | None = None) -> Strips:
    """Return the scores of every run in long form; a method is a value of the column ``by``.

    By default that is ``method`` where the table has it, otherwise ``recipe``. ``metrics`` are columns of the table,
    by default all disentanglement scores that it has.
    """
    chosen = check_scored("score_strips", table, metrics)
    by = method_column(table, by)
    keys = list(dict.fromkeys(["data", "recipe", by]))
    runs = read_runs("score_strips", table, chosen, keys)
    long = runs.melt(id_vars=keys, value_vars=chosen, var_name="metric", value_name="score")
    long["method"] = long[by].astype(str)
    return Strips(long[["data", "method", "metric", "score"]].dropna().reset_index(drop=True))


def draw_score_strips(result: Strips) -> Figure:
    """Draw one row of panels per data set and one column per score, and return the matplotlib figure.

    Every run is a point, spread sideways so that points of similar scores stay apart; the bar is the mean.
    """
    frame, shortened = result.frame, Labels()
    styles = style_methods(frame["method"])
    panels = Panels(frame["data"].unique(), frame["metric"].unique(), most=max(1, min(ACROSS, 36 // len(styles))))
    names = [shortened.fit(words(name), LONGEST, SMALL) for name in styles]
    for place, metric in itertools.product(panels.rows, panels.columns):
        panel = panels[place, metric]
        part = frame[(frame["data"] == place) & (frame["metric"] == metric)]
        for position, (method, style) in enumerate(styles.items()):
            scores = part.loc[part["method"] == method, "score"].to_numpy()
            if not len(scores):
                continue
            panel.plot(position + sideways(scores), scores, linestyle="none", markersize=3, mew=0, alpha=0.8, **style)
            panel.hlines(scores.mean(), position - 0.36, position + 0.36, color="black", linewidth=1.2)
        panel.set_xticks(range(len(styles)), names, rotation=90, fontsize=SMALL)
        panel.set_xlim(-0.6, len(styles) - 0.4)
    panels.align(x="all")
    panels.name()
    return lay_out(panels.figure, panels.axes, height=1.3, labels=shortened)


def sideways(scores: np.ndarray) -> np.ndarray:
    """Return how far each point stands from the middle of its strip, so that close points do not cover each other.

    Points are placed in order of their score at the middle, right, left, further right, … as long as the next one is
    close; the offsets depend on the scores only.
    """
    offsets = np.zeros(len(scores))
    close = 0.03 * max(float(np.ptp(scores)), 1e-12)
    run = 0
    order = np.argsort(scores, kind="stable")
    for before, point in itertools.pairwise(order):
        run = run + 1 if scores[point] - scores[before] < close else 0
        side = 1 if run % 2 else -1
        offsets[point] = side * min(0.09 * ((run + 1) // 2), WIDTH)
    return offsets
