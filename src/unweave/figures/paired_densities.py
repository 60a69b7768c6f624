"""Paired densities: the scores of two methods, one half of a violin each (Michlo et al. 2023, figures 6 and 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.errors import InputError
from unweave.figures.drawing.panels import ACROSS, SMALL, Panels, lay_out, style_methods
from unweave.figures.drawing.texts import Labels
from unweave.figures.figure import check_scored
from unweave.names import words
from unweave.study.columns import check_columns, read_runs

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

POINTS = 100  # of a density
HALF = 0.42  # width of the wider half
LONGEST = 1.3  # inches of the name of a group
MISSING = "none"  # the text for runs without the setting


@dataclass(frozen=True)
class Densities:
    """One row per run and score: ``group`` on the x axis, ``half`` of the violin, ``metric``, ``score``."""

    frame: pandas.DataFrame
    halves: tuple[str, str]


def make_paired_densities(
    table: pandas.DataFrame, *, halves: str = "recipe", groups: str = "data", metrics: Sequence[str] = ()
) -> Densities:
    """Return the scores of every run by group and half.

    Args:
        table: The runs.
        halves: A column with two values, as ``recipe`` with β-VAE and Ada-GVAE (figure 6) or ``blur`` (figure 11).
        groups: The column of the x axis.
        metrics: The columns of scores, by default all disentanglement scores.

    Returns:
        The scores by metric, group and half.
    """
    check_columns("paired_densities", table, [halves, groups])
    chosen = check_scored("paired_densities", table, metrics)
    keys = list(dict.fromkeys(["data", "recipe", halves, groups]))
    runs = read_runs("paired_densities", table, chosen, keys)
    for column, name in (("half", halves), ("group", groups)):
        runs[column] = [MISSING if value != value or value is None else str(value) for value in runs[name]]
    found = list(dict.fromkeys(runs["half"]))
    if len(found) != 2:
        raise InputError(
            f"paired_densities: the column {halves!r} must have two values, one for each half, got {len(found)}: "
            f"{', '.join(found[:6])}. Choose another column with halves=COLUMN."
        )
    if halves != "recipe":
        runs["half"] = [f"{halves} {value}" for value in runs["half"]]
        found = [f"{halves} {value}" for value in found]
    long = runs.melt(id_vars=["group", "half"], value_vars=chosen, var_name="metric", value_name="score")
    return Densities(long.dropna().reset_index(drop=True), (found[0], found[1]))


def density(scores: Any, points: Any) -> Any:
    """Return the Gaussian kernel density of scores at points, with Scott's bandwidth; None if they do not vary."""
    from scipy.stats import gaussian_kde

    scores = np.asarray(scores, dtype=float)
    if len(scores) < 2 or np.ptp(scores) < 1e-9:
        return None
    return gaussian_kde(scores)(points)


def draw_paired_densities(result: Densities) -> Figure:
    """Draw one panel per score with one violin per group; lines mark quartiles. Return the matplotlib figure.

    A half whose runs do not vary, or with a single run, is a line. The wider half of a violin has a fixed width.
    """
    frame, shortened = result.frame, Labels()
    groups = list(frame["group"].unique())
    colours = {half: style["color"] for half, style in style_methods(result.halves).items()}
    panels = Panels([""], frame["metric"].unique(), most=max(1, min(ACROSS, 20 // len(groups))))
    names = [shortened.fit(words(group), LONGEST, SMALL) for group in groups]
    for metric in panels.columns:
        panel = panels["", metric]
        for place, group in enumerate(groups):
            part = frame[(frame["metric"] == metric) & (frame["group"] == group)]
            _draw_pair(
                panel, place, {half: part.loc[part["half"] == half, "score"].to_numpy() for half in colours}, colours
            )
        panel.set_xticks(range(len(groups)), names, rotation=90, fontsize=SMALL)
        panel.set_xlim(-0.6, len(groups) - 0.4)
    panels.name()
    styles = {half: {"color": colour, "marker": "s"} for half, colour in colours.items()}
    return lay_out(panels.figure, panels.axes, height=1.6, legend=styles, labels=shortened, markersize=7)


def _draw_pair(panel: Any, place: int, scores: dict[str, Any], colours: dict[str, str]) -> None:
    curves = {}
    for half, values in scores.items():
        if len(values):
            points = np.linspace(values.min(), values.max(), POINTS)  # a density beyond the scores would be invented
            curves[half] = (points, density(values, points))
    highest = max((d.max() for _, d in curves.values() if d is not None), default=1.0)
    for side, (half, colour) in zip((-1, 1), colours.items(), strict=True):
        if half not in curves:
            continue
        points, heights = curves[half]
        if heights is not None:
            edge = place + side * HALF * heights / highest
            panel.fill_betweenx(points, place, edge, color=colour, alpha=0.55, lw=0)
            panel.plot(edge, points, color=colour, linewidth=0.8)
            for quartile, look in zip((0.25, 0.5, 0.75), (0.6, 1.4, 0.6), strict=True):
                at = float(np.quantile(scores[half], quartile))
                reach = float(np.interp(at, points, heights)) / highest * HALF
                panel.hlines(at, *sorted((place, place + side * reach)), color="black", linewidth=look)
        else:
            at = scores[half].mean()
            panel.hlines(at, *sorted((place, place + side * HALF)), color=colour, linewidth=1.6)
