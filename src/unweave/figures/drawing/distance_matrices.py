"""Distance matrices along each factor: ground truth above, perceived below (Michlo et al. 2023, fig. 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unweave.data.distances import Matrices
from unweave.errors import extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
