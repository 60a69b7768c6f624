"""Theorem 1 as a picture: two representations with the same distribution, one separated and one entangled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.figures.drawing.panels import TEXT, panel_grid
from unweave.study.impossibility import Impossibility

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 3_000  # points


def draw_impossibility(shown: Impossibility) -> Figure:
    """Draw the first two coordinates of the factors and of the entangled factors, coloured by the first factor.

    Returns the matplotlib figure.
    """
    figure, axes = panel_grid(1, 2, size=(2.6, 2.6), margin=(0.5, 0.9), sharex=True, sharey=True)
    panels = (("factors", shown.factors, shown.mig_of_factors), ("entangled", shown.entangled, shown.mig_of_entangled))
    for panel, (name, values, score) in zip(axes[0], panels, strict=True):
        colour = shown.factors[:MOST, 0]
        panel.scatter(values[:MOST, 0], values[:MOST, 1], c=colour, cmap="viridis", s=3, linewidths=0)
        panel.set_title(f"{name}: MIG {score:.2f}", fontsize=TEXT + 1)
        panel.set_aspect("equal")
    figure.supxlabel("first coordinate, coloured by the first factor", fontsize=TEXT)
    figure.supylabel("second coordinate", fontsize=TEXT)
    return figure
