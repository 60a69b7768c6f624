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
from unweave.figures.drawing.panels import COLOURS, PAGE, SMALL, TEXT, lay_out, panel_grid
from unweave.figures.drawing.texts import Labels, text_height
from unweave.metrics.scoring.inputs import Floats
from unweave.names import words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DASHES = ("-", "--", "-.", ":")
RANDOM = "random"
ACROSS = 3  # panels
LONGEST = 1.0  # inches of the name of a factor


@dataclass(frozen=True)
class CumulativeDistances:
    """Sorted distances (pairs,) by factor for each data set, the factor with the largest mean first."""

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
    across = min(ACROSS, len(result.sets))
    figure, axes = panel_grid(-(-len(result.sets) // across), across)
    shortened = Labels()
    for panel in axes.flat[len(result.sets) :]:
        panel.set_axis_off()
    for panel, (name, found) in zip(axes.flat, result.sets, strict=False):
        place = 0
        for factor, values in found.items():
            if factor == RANDOM:
                style = {"color": "black", "linestyle": "--", "linewidth": 1.6}
            else:
                dash = DASHES[(place // (len(COLOURS) - 2)) % len(DASHES)]
                style = {"color": COLOURS[place % (len(COLOURS) - 2)], "linestyle": dash, "linewidth": 1.2}
                place += 1
            label = shortened.fit(words(factor), LONGEST, SMALL)
            panel.plot(values, np.arange(1, len(values) + 1) / len(values), label=label, **style)
        panel.set_title(name.replace("\n", ", "), fontsize=TEXT)
        panel.set_ylim(0, 1.01)
        panel.set_xlim(left=0)
        panel.legend(fontsize=SMALL, frameon=False, loc="lower right", labelspacing=0.3, borderaxespad=0.2)
    tallest = max(len(found) for _, found in result.sets)
    return lay_out(
        figure,
        axes,
        height=max(1.9, text_height(tallest, SMALL) * 1.15 + 0.2),
        width=PAGE if across > 1 else 4.5,
        label=f"perceived distance, {words(result.loss)}",
        side="proportion of pairs",
        labels=shortened,
    )
