"""Cumulative proportions of perceived distances: which factors does a loss see first? (Michlo et al. 2023, fig. A1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from unweave.data import FactorData
from unweave.data.distances import distance_named, sampled_distances
from unweave.figures.data_distances import names_of_data
from unweave.figures.drawing.panels import COLOURS, SMALL, TEXT, panel_grid
from unweave.metrics.scoring.inputs import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DASHES = ("-", "--", "-.", ":")
RANDOM = "random"


@dataclass(frozen=True)
class CumulativeDistances:
    """For each data set its sorted distances (pairs,) by factor, the factor with the largest mean first."""

    loss: str
    sets: tuple[tuple[str, dict[str, Floats]], ...]


def make_cumulative_distances(
    data: Sequence[FactorData], generator: torch.Generator, *, pairs: int = 2_000, loss: str = "mse"
) -> CumulativeDistances:
    """Sample ``pairs`` pairs of images that differ in one factor, for each factor, and as many random pairs.

    Args:
        data: The data sets to compare.
        generator: The source of randomness.
        pairs: The number of pairs for each factor.
        loss: The name of the distance between images.

    Returns:
        The distances by data set and factor.
    """
    distance = distance_named(loss)
    sets = []
    for own in data:
        drawn = sampled_distances(own, generator, pairs=pairs, distance=distance)
        found = {name: np.sort(values.double().numpy()) for name, values in drawn}
        sets.append(dict(sorted(found.items(), key=lambda item: -item[1].mean())))
    return CumulativeDistances(loss, tuple(zip(names_of_data(data), sets, strict=True)))


def draw_cumulative_distances(result: CumulativeDistances) -> Figure:
    """Draw one panel per data set with one step curve per factor, and return the matplotlib figure.

    Curves further to the right belong to factors that change the image more, which a VAE learns first.
    """
    figure, axes = panel_grid(1, len(result.sets), size=(3.2, 2.4), margin=(0.4, 0.5))
    for panel, (name, found) in zip(axes[0], result.sets, strict=True):
        place = 0
        for factor, values in found.items():
            if factor == RANDOM:
                style = {"color": "black", "linestyle": "--", "linewidth": 1.6}
            else:
                dash = DASHES[(place // (len(COLOURS) - 2)) % len(DASHES)]
                style = {"color": COLOURS[place % (len(COLOURS) - 2)], "linestyle": dash, "linewidth": 1.2}
                place += 1
            panel.plot(values, np.arange(1, len(values) + 1) / len(values), label=factor, **style)
        panel.set_title(name, fontsize=TEXT)
        panel.set_xlabel(f"perceived distance, {result.loss}", fontsize=TEXT)
        panel.set_ylim(0, 1.01)
        panel.set_xlim(left=0)
        panel.legend(fontsize=SMALL, frameon=False, loc="lower right")
    axes[0, 0].set_ylabel("proportion of pairs", fontsize=TEXT)
    return figure
