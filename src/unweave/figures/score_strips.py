"""Strip plots: the scores of every run, one strip per method (Rhodes & Lee 2021, figure 5)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unweave.figures.drawing.panels import SMALL, TEXT, panel_grid, style_methods
from unweave.figures.figure import check_scored, method_column
from unweave.names import words
from unweave.study.columns import read_runs

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

WIDTH = 0.28  # of the strip on each side


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
    frame = result.frame
    data, metrics = frame["data"].unique(), frame["metric"].unique()
    styles = style_methods(frame["method"])
    figure, axes = panel_grid(
        len(data), len(metrics), size=(0.5 + 0.32 * len(styles), 1.9), margin=(0.6, 1.0), sharex=True, sharey="col"
    )
    for row, place in enumerate(data):
        for column, metric in enumerate(metrics):
            panel = axes[row, column]
            part = frame[(frame["data"] == place) & (frame["metric"] == metric)]
            for position, (method, style) in enumerate(styles.items()):
                scores = part.loc[part["method"] == method, "score"].to_numpy()
                if not len(scores):
                    continue
                panel.plot(
                    position + sideways(scores), scores, linestyle="none", markersize=3, mew=0, alpha=0.8, **style
                )
                panel.hlines(scores.mean(), position - 0.36, position + 0.36, color="black", linewidth=1.2)
            panel.set_xticks(range(len(styles)), [words(name) for name in styles], rotation=90, fontsize=SMALL)
            panel.set_xlim(-0.6, len(styles) - 0.4)
            if row == 0:
                panel.set_title(words(metric, 18), fontsize=TEXT)
        axes[row, 0].set_ylabel(words(place, 20), fontsize=TEXT)
    return figure


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
