"""Perceived distances of data sets side by side, such as all spacings of XYSquares (Michlo et al. 2023, fig. 3, 8)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from unweave.data import FactorData
from unweave.data.distances import Matrices, distance_matrices, distance_named
from unweave.figures.drawing.panels import PAGE, TEXT, lay_out, panel_grid
from unweave.figures.drawing.style import SEQUENTIAL
from unweave.names import spelled, words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST, LARGEST = 8, 1.5  # pairs of matrices beside one another, and inches of a matrix
FEW = 3  # values of a factor that is often a class


@dataclass(frozen=True)
class DataDistances:
    """The matrices of every factor for each data set, by the name of the set."""

    loss: str
    sets: tuple[tuple[str, tuple[Matrices, ...]], ...]


def make_data_distances(
    data: Sequence[FactorData], generator: torch.Generator, *, traversals: int = 20, loss: str = "mse"
) -> DataDistances:
    """Return the distances along each factor of each data set, averaged over traversals.

    Args:
        data: The data sets to compare.
        generator: The source of randomness.
        traversals: The number of traversals of each factor, through random points.
        loss: The name of the distance between images.

    Returns:
        The matrices of each data set.
    """
    distance = distance_named(loss)
    found = [tuple(distance_matrices(own, generator, traversals=traversals, distance=distance)) for own in data]
    return DataDistances(loss, tuple(zip(names_of_data(data), found, strict=True)))


def names_of_data(data: Sequence[FactorData]) -> list[str]:
    """Return the name of each data set with the options in which sets of the same name differ."""
    names = []
    for own in data:
        alike = [other for other in data if other.name == own.name]
        differing = [key for key, value in own.options.items() if any(o.options.get(key) != value for o in alike)]
        names.append("\n".join([spelled(own.name), *(f"{key} {own.options[key]}" for key in differing)]))
    return names


def draw_data_distances(result: DataDistances) -> Figure:
    """Draw the matrices and return the matplotlib figure.

    One data set has a column per factor, with the ground truth above (figure 3). Several have a column each, with the
    ground truth of the same factor above its perceived distances (figure 8); perceived matrices of sets with the same
    name share one scale. It is the first factor with more than three values, which are seldom classes.
    """
    if len(result.sets) == 1:
        name, matrices = result.sets[0]
        return draw_distance_matrices(matrices, title=f"{name.replace(chr(10), ', ')}, {words(result.loss)}")
    chosen = [(name, _telling(matrices)) for name, matrices in result.sets]
    largest: dict[str, float] = {}
    for name, entry in chosen:
        kind = name.split("\n")[0]
        largest[kind] = max(largest.get(kind, 0.0), float(entry.perceived.max()))
    columns = [
        (f"{name.replace(chr(10), ', ')}: {words(entry.factor)}", entry, largest[name.split(chr(10))[0]])
        for name, entry in chosen
    ]
    shared = len(largest) < len(chosen)
    caption = "Matrices of one data set share their scale." if shared else "Each matrix has its own scale."
    return _draw(columns, f"Perceived distances, {words(result.loss)}", caption)


def draw_distance_matrices(matrices: Sequence[Matrices], *, title: str) -> Figure:
    """Draw one column per factor and return the matplotlib figure; each matrix is scaled to its largest entry."""
    columns = [(words(entry.factor), entry, float(entry.perceived.max())) for entry in matrices]
    return _draw(columns, title, "Each matrix has its own scale.")


def _telling(matrices: Sequence[Matrices]) -> Matrices:
    """Return the first factor with more than three values, or else the first that varies."""
    varying = [entry for entry in matrices if len(entry.perceived) > 1]
    return next((entry for entry in varying if len(entry.perceived) > FEW), varying[0])


def _draw(columns: Sequence[tuple[str, Matrices, float]], title: str, caption: str) -> Figure:
    """Draw pairs of matrices, the ground truth above the perceived distances, as many beside one another as fit."""
    lines = -(-len(columns) // MOST)
    across = -(-len(columns) // lines)
    side = min(LARGEST, (PAGE - 0.6) / across - 0.15)
    figure, axes = panel_grid(2 * lines, across)
    for place in range(lines * across):
        line, column = divmod(place, across)
        for row in (0, 1):
            panel = axes[2 * line + row, column]
            if place >= len(columns):
                panel.set_axis_off()
                continue
            name, entry, top = columns[place]
            panel.set_xticks([])
            panel.set_yticks([])
            panel.spines[:].set_visible(True)
            panel.spines[:].set_linewidth(0.4)
            if row == 0:
                panel.imshow(entry.ground_truth.numpy(), cmap=SEQUENTIAL, vmin=0, interpolation="nearest")
                panel.set_title(name, fontsize=TEXT)
            else:
                panel.imshow(
                    entry.perceived.numpy(), cmap=SEQUENTIAL, vmin=0, vmax=top or None, interpolation="nearest"
                )
                panel.set_xlabel(_verdict(entry), fontsize=TEXT)
            if column == 0:
                panel.set_ylabel(("ground truth", "perceived")[row], fontsize=TEXT)
    below = f"r is the correlation with the ground truth. {caption}"
    return lay_out(figure, axes, height=side, width=side, title=title, caption=below)


def _verdict(entry: Matrices) -> str:
    """Return the correlation with the ground truth, or why there is none."""
    return entry.verdict if math.isnan(entry.correlation) else f"r = {entry.verdict}".replace("-", "−")
