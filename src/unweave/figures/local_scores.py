"""Local disentanglement against the radius ρ, with the spread over seeds (Rhodes & Lee 2021, figures 4 and 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unweave.errors import InputError, extra
from unweave.figures.drawing.panels import TEXT, add_legend, panel_grid, style_methods
from unweave.figures.drawing.titles import methods_of
from unweave.figures.figure import method_column
from unweave.names import words
from unweave.study.columns import check_columns
from unweave.training import Run

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

METRICS = ("local_mig", "local_modularity")


@dataclass(frozen=True)
class LocalScores:
    """One row per data set, method, metric and radius: ``mean``, ``std`` and ``runs``, over seeds."""

    frame: pandas.DataFrame


def local_rows(runs: Sequence[Run]) -> pandas.DataFrame:
    """Return the stored local scores: ``data``, ``recipe``, ``method``, ``seed``, ``metric``, ``rho``, ``score``."""
    pandas = extra("pandas", "study")
    rows = []
    for run, method in zip(runs, methods_of(runs), strict=True):
        c = run.configuration
        for metric, result in run.scores.items():
            if metric in METRICS:
                settings = {"data": c.data.name, "recipe": c.recipe, "method": method, "seed": c.seed}
                radii = zip(result.rho.tolist(), result.per_rho.tolist(), strict=True)
                rows += [{**settings, "metric": metric, "rho": rho, "score": score} for rho, score in radii]
    if not rows:
        raise InputError(
            "none of these runs has local scores. Measure them by: unweave score RUN… --metric local_mig --metric "
            "local_modularity --set local_mig.rho=[0.1,0.5,1] --set local_modularity.rho=[0.1,0.5,1]"
        )
    return pandas.DataFrame(rows)


def make_local_scores(table: pandas.DataFrame, *, by: str | None = None) -> LocalScores:
    """Average over seeds, for each data set, method, metric and radius.

    The table has one row per run, metric and radius, as :func:`local_rows` returns it: ``data``, ``recipe``, ``rho``,
    ``metric`` and ``score``. A method is a value of the column ``by``, by default ``method`` or else ``recipe``. The
    deviation is that of a sample, NaN for a single run.
    """
    by = method_column(table, by)
    check_columns("local_scores", table, ["data", by, "rho", "metric", "score"])
    try:
        table = table.astype({"rho": "float64", "score": "float64"})
    except (TypeError, ValueError):
        raise InputError("local_scores: the columns 'rho' and 'score' must contain numbers.") from None
    groups = table.groupby(["data", by, "metric", "rho"], sort=False)["score"]
    frame = groups.agg(mean="mean", std="std", runs="count").reset_index().rename(columns={by: "method"})
    return LocalScores(frame)


def draw_local_scores(result: LocalScores) -> Figure:
    """Draw one row of panels per data set and one column per metric, and return the matplotlib figure.

    Lines are means over seeds, bars and bands one standard deviation. Small radii are the local ones.
    """
    frame = result.frame
    data, metrics = frame["data"].unique(), frame["metric"].unique()
    styles = style_methods(frame["method"])
    figure, axes = panel_grid(len(data), len(metrics), size=(2.7, 2.0), sharex=True)
    for row, place in enumerate(data):
        for column, metric in enumerate(metrics):
            panel = axes[row, column]
            part = frame[(frame["data"] == place) & (frame["metric"] == metric)]
            for method, style in styles.items():
                line = part[part["method"] == method].sort_values("rho")
                spread = np.nan_to_num(line["std"].to_numpy())
                mean, rho = line["mean"].to_numpy(), line["rho"].to_numpy()
                panel.errorbar(rho, mean, yerr=spread, markersize=4, linewidth=1.2, elinewidth=0.8, capsize=2, **style)
                panel.fill_between(rho, mean - spread, mean + spread, color=style["color"], alpha=0.12, lw=0)
            if row == 0:
                panel.set_title(words(metric), fontsize=TEXT)
        axes[row, 0].set_ylabel(words(place), fontsize=TEXT)
    least, most = int(frame["runs"].min()), int(frame["runs"].max())
    count = f"{most} run{'s' if most > 1 else ''}" if least == most else f"{least} to {most} runs"
    label = f"radius ρ of neighbourhoods; mean and standard deviation over {count}"
    add_legend(figure, styles, label=label, linestyle="-", linewidth=1.2)
    return figure
