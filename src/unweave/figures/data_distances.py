"""Perceived distances of data sets side by side, such as all spacings of XYSquares (Michlo et al. 2023, fig. 3, 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from unweave.data import FactorData
from unweave.data.distances import Matrices, distance_matrices, distance_named
from unweave.errors import extra
from unweave.figures.drawing.panels import SMALL, TEXT
from unweave.figures.drawing.style import SEQUENTIAL, new_figure
from unweave.names import spelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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

    One data set has a column per factor, with the ground truth above (figure 3). Several have a column each, after the
    ground truth, and one row for the first factor that varies (figure 8); all perceived matrices share one scale.
    """
    if len(result.sets) == 1:
        name, matrices = result.sets[0]
        return draw_distance_matrices(matrices, title=f"{name.replace(chr(10), ', ')}, {result.loss}")
    chosen = [(name, next(m for m in matrices if len(m.perceived) > 1)) for name, matrices in result.sets]
    figure = new_figure(1.5 * (len(chosen) + 1) + 0.2, 2.3)
    axes = figure.subplots(1, len(chosen) + 1)
    top = max(float(entry.perceived.max()) for _, entry in chosen)
    axes[0].imshow(chosen[0][1].ground_truth.numpy(), cmap=SEQUENTIAL, vmin=0, interpolation="nearest")
    axes[0].set_title(f"ground truth\n{chosen[0][1].factor}", fontsize=TEXT)
    for panel, (name, entry) in zip(axes[1:], chosen, strict=True):
        panel.imshow(entry.perceived.numpy(), cmap=SEQUENTIAL, vmin=0, vmax=top, interpolation="nearest")
        panel.set_title(name, fontsize=TEXT)
        panel.set_xlabel(entry.verdict if not entry.verdict[0].isdigit() else f"r = {entry.verdict}", fontsize=SMALL)
    for panel in axes:
        panel.set_xticks([])
        panel.set_yticks([])
        panel.spines[:].set_linewidth(0.4)
    figure.suptitle(f"Perceived distances, {result.loss}", fontsize=TEXT + 1)
    return figure


def draw_distance_matrices(matrices: Sequence[Matrices], *, title: str) -> Figure:
    """Draw one column per factor and return the matplotlib figure; each matrix is scaled to its largest entry."""
    extra("matplotlib", "figures")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.6 * len(matrices) + 0.8, 4.2), dpi=150, layout="constrained")
    grid = figure.subplots(2, len(matrices), squeeze=False)
    for column, entry in enumerate(matrices):
        for row, matrix in enumerate((entry.ground_truth, entry.perceived)):
            axes = grid[row, column]
            axes.imshow(matrix.numpy(), cmap="viridis", vmin=0, interpolation="nearest")
            axes.set_xticks([])
            axes.set_yticks([])
        grid[0, column].set_title(entry.factor, fontsize=9)
        grid[1, column].set_xlabel(entry.verdict, fontsize=8)
    grid[0, 0].set_ylabel("ground truth", fontsize=9)
    grid[1, 0].set_ylabel("perceived", fontsize=9)
    figure.suptitle(title, fontsize=10)
    return figure
