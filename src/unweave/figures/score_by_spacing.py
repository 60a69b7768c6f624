"""Scores against a setting, such as the spacing of XYSquares (Michlo et al. 2023, figure 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.errors import InputError, whole
from unweave.figures.drawing.panels import Panels, lay_out, style_methods
from unweave.figures.figure import check_scored, method_column
from unweave.metrics import METRICS
from unweave.names import brief, words
from unweave.study.columns import check_columns, read_runs

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from unweave.metrics.scoring.inputs import Floats

RESAMPLES, CURVE = 200, 60  # of the band, and points of a fitted curve


@dataclass(frozen=True)
class ScoresByValue:
    """One row per run and score: ``data``, ``method``, ``value`` of the setting, ``metric`` and ``score``."""

    setting: str
    frame: pandas.DataFrame
    fit: int = 0  # degree of the curve, 0 for lines through the means


def make_score_by_spacing(
    table: pandas.DataFrame,
    *,
    setting: str = "data.spacing",
    metrics: Sequence[str] = (),
    by: str | None = None,
    fit: int = 0,
) -> ScoresByValue:
    """Return the scores of every run with the value of a setting, which must be a number.

    Runs of one method, value and seed that differ in another setting are methods of their own.

    Args:
        table: The runs; rows without the setting are left out.
        setting: The column of the setting.
        metrics: The columns of scores, by default all disentanglement scores that the table has.
        by: The column that tells methods apart; by default ``method`` if the table has it, else ``recipe``.
        fit: The degree of a polynomial that is fitted to the runs of each method and drawn with a 95 % band, as in
            figure 9 of the paper, where it is 4; 0 draws lines through the means over seeds instead.

    Returns:
        The scores by metric and value of the setting.
    """
    whole("score_by_spacing: fit", fit, at_least=0)
    check_columns("score_by_spacing", table, [setting])
    chosen = check_scored("score_by_spacing", table, metrics)
    by = method_column(table, by)
    table = table[table[setting].notna()]
    apart = _told_apart(table, ["data", by, setting, "seed"]) if "seed" in table else []
    keys = list(dict.fromkeys(["data", "recipe", by, setting, *apart]))
    runs = read_runs("score_by_spacing", table, chosen, keys)
    try:
        runs["value"] = runs[setting].astype("float64")
    except (TypeError, ValueError):
        raise InputError(f"score_by_spacing: the column {setting!r} must contain numbers.") from None
    runs["method"] = runs[by].astype(str)
    for name in apart:
        texts = [brief(value) for value in runs[name]]
        runs["method"] += np.where(runs[name].isna(), "", [f", {words(name)} {text}" for text in texts])
    long = runs.melt(id_vars=["data", "method", "value"], value_vars=chosen, var_name="metric", value_name="score")
    return ScoresByValue(setting, long.dropna().reset_index(drop=True), fit)


def _told_apart(table: pandas.DataFrame, keys: list[str]) -> list[str]:
    """Return the settings in which runs with the same keys differ."""
    results = {"run", "state", "step", "seconds", "error", "configuration", "protocol", *METRICS}
    settings = [name for name in table if name not in keys and name.partition(".")[0] not in results]
    texts = table.assign(**{name: table[name].astype(str) for name in settings})  # some are dictionaries, as of terms
    values = texts.groupby(keys, dropna=False)[settings].nunique(dropna=False)
    return [name for name in settings if (values[name] > 1).any()]


def fitted_curve(x: Floats, y: Floats, degree: int, at: Floats) -> tuple[Floats, Floats, Floats]:
    """Return a least-squares polynomial at points, and the 2.5 % and 97.5 % quantiles over resamples of the runs.

    The resamples are drawn with a fixed seed.

    Args:
        x: The value of the setting of each run (N,).
        y: The score of each run (N,).
        degree: The degree of the polynomial, lowered to the number of different x, less one, if that is smaller.
        at: The points to evaluate it at (P,).

    Returns:
        The polynomial, the lower and the upper quantile, each (P,).
    """

    def curve(rows: Any) -> Any:
        fewer = min(degree, len(np.unique(x[rows])) - 1)
        return np.polynomial.Polynomial.fit(x[rows], y[rows], fewer, domain=(x.min(), x.max() + (x.max() == x.min())))(
            at
        )

    random = np.random.default_rng(0)
    again = np.stack([curve(random.integers(len(x), size=len(x))) for _ in range(RESAMPLES)])
    low, high = np.quantile(again, (0.025, 0.975), axis=0)
    return curve(np.arange(len(x))), low, high


def draw_score_by_spacing(result: ScoresByValue) -> Figure:
    """Draw one row of panels per data set and one column per score, and return the matplotlib figure.

    Every run is a point; lines are means over seeds, or fitted curves with their bands.
    """
    frame = result.frame
    panels = Panels(frame["data"].unique(), frame["metric"].unique())
    styles = style_methods(frame["method"])
    for place, metric in product(panels.rows, panels.columns):
        panel = panels[place, metric]
        part = frame[(frame["data"] == place) & (frame["metric"] == metric)]
        for method, style in styles.items():
            own = part[part["method"] == method]
            means = own.groupby("value")["score"].mean()
            panel.plot(own["value"], own["score"], linestyle="none", markersize=3, mew=0, alpha=0.45, **style)
            if result.fit and len(means) > 1:
                at = np.linspace(own["value"].min(), own["value"].max(), CURVE)
                middle, low, high = fitted_curve(own["value"].to_numpy(), own["score"].to_numpy(), result.fit, at)
                panel.fill_between(at, low, high, color=style["color"], alpha=0.15, linewidth=0)
                panel.plot(at, middle, linewidth=1.4, **{**style, "marker": ""})
                continue
            panel.plot(means.index, means, linewidth=1.4, markersize=5, **style)
        panel.set_xticks(sorted(part["value"].unique()))
    panels.name()
    look: dict[str, Any] = {"linestyle": "-", "linewidth": 1.4}
    return lay_out(panels.figure, panels.axes, height=1.6, label=words(result.setting), legend=styles, **look)
