"""Local disentanglement against the radius ρ, with the spread over seeds (Rhodes & Lee 2021, figures 4 and 7)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.errors import InputError, extra
from unweave.figures.drawing.panels import Panels, lay_out, style_methods
from unweave.figures.drawing.subjects import methods_of
from unweave.figures.figure import method_column
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
    ``metric`` and ``score``, or one row per run with columns such as ``local_mig at 0.1``. A method is a value of the
    column ``by``, by default ``method`` or else ``recipe``. The deviation is that of a sample, NaN for a single run.
    """
    by = method_column(table, by)
    if "rho" not in table:
        table = _by_radius(table)
    check_columns("local_scores", table, ["data", by, "rho", "metric", "score"])
    try:
        table = table.astype({"rho": "float64", "score": "float64"})
    except (TypeError, ValueError):
        raise InputError("local_scores: the columns 'rho' and 'score' must contain numbers.") from None
    groups = table.groupby(["data", by, "metric", "rho"], sort=False)["score"]
    frame = groups.agg(mean="mean", std="std", runs="count").reset_index().rename(columns={by: "method"})
    return LocalScores(frame)


def _by_radius(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return a table with columns such as "local_mig at 0.1" as one row per run, metric and radius."""
    columns = [name for name in table if re.fullmatch(r"local_\w+ at [\d.]+", str(name))]
    if not columns:
        return table
    others = [name for name in table if name not in columns]
    long = table.melt(id_vars=others, value_vars=columns, var_name="column", value_name="score")
    parts = long["column"].str.extract(r"(\w+) at ([\d.]+)")
    return long.assign(metric=parts[0], rho=parts[1]).dropna(subset=["score"])


def draw_local_scores(result: LocalScores) -> Figure:
    """Draw one row of panels per data set and one column per metric, and return the matplotlib figure.

    Lines are means over seeds, bands one standard deviation. Small radii are the local ones.
    """
    frame = result.frame
    panels = Panels(frame["data"].unique(), frame["metric"].unique())
    styles = style_methods(frame["method"])
    for place, metric in product(panels.rows, panels.columns):
        panel = panels[place, metric]
        part = frame[(frame["data"] == place) & (frame["metric"] == metric)]
        for method, style in styles.items():
            line = part[part["method"] == method].sort_values("rho")
            spread = np.nan_to_num(line["std"].to_numpy())
            mean, rho = line["mean"].to_numpy(), line["rho"].to_numpy()
            panel.plot(rho, mean, markersize=4, linewidth=1.2, **style)
            band = (mean - spread).clip(0, 1), (mean + spread).clip(0, 1)  # as far as a score can be
            panel.fill_between(rho, *band, color=style["color"], alpha=0.15, lw=0)
    panels.align(x="all", y="col")
    panels.name()
    least, most = int(frame["runs"].min()), int(frame["runs"].max())
    count = f"{most} run{'s' if most > 1 else ''}" if least == most else f"{least} to {most} runs"
    label = f"radius ρ of neighbourhoods; mean and standard deviation over {count}"
    look: dict[str, Any] = {"linestyle": "-", "linewidth": 1.2}
    return lay_out(panels.figure, panels.axes, height=1.7, label=label, legend=styles, **look)
