"""Mutual information between factors and latents as a heat map (Hsu et al. 2024, figures 5 and 7 to 10)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from unweave.data import FactorData
from unweave.errors import InputError
from unweave.figures.drawing.panels import PAGE, PAGE_HEIGHT, SMALL, TEXT, lay_out, panel_grid
from unweave.figures.drawing.style import heat_map
from unweave.figures.drawing.subjects import names_of, ordered_latents, title_of
from unweave.figures.drawing.texts import Labels
from unweave.metrics.scoring.inputs import Floats
from unweave.names import words
from unweave.representation import Representation

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ABOVE_CHANCE = "I(z; f) / H(f) above chance"
WIDEST, UPRIGHT, NUMBERED, NARROWEST = 0.5, 0.26, 0.22, 0.12  # inches of a latent: the most, and for names and numbers
LOWEST, HIGHEST = 0.16, 0.34  # inches of a factor
LONGEST = 1.3  # inches of the name of a factor


@dataclass(frozen=True, eq=False)
class Information:
    """Information (factors, latents) over the entropy of the factor, with latents in the order drawn."""

    name: str
    matrix: Floats
    factors: tuple[str, ...]
    latents: tuple[int, ...]
    inactive: tuple[bool, ...]
    chance: Floats | None = None  # (factors, latents), what permuted codes score; None for what has no chance level


@dataclass(frozen=True)
class InformationMaps:
    """The heat map of each run."""

    title: str
    maps: tuple[Information, ...]

    def records(self) -> list[dict[str, Any]]:
        """Return one row per run, factor and latent."""
        return [
            {
                "run": m.name.replace("\n", ", "),
                "factor": factor,
                "latent": latent,
                "information": float(m.matrix[k, j]),
                **({} if m.chance is None else {"chance": float(m.chance[k, j])}),
            }
            for m in self.maps
            for k, factor in enumerate(m.factors)
            for j, latent in enumerate(m.latents)
        ]


def make_mutual_information(
    runs: Sequence[Representation],
    data: Sequence[FactorData],
    generator: torch.Generator,
    *,
    samples: int = 5_000,
    bins: int = 20,
) -> InformationMaps:
    r"""Compute :math:`I(z_j; f_k) / H(f_k)` above chance from ``samples`` random images for each run.

    What permuted codes score is subtracted, and 0 stands where nothing is above it; see
    :func:`unweave.metrics.follows`.

    Continuous latents are binned as in MIG; the levels of quantised latents are taken as they are, as in InfoMEC.
    Constant factors are left out.

    Args:
        runs: The runs to show.
        data: The data set of each run.
        generator: Not used; the sample is the one that reports and the page use.
        samples: The number of random images.
        bins: The number of bins of a continuous latent.

    Returns:
        One matrix per run.
    """
    maps = [
        information_map(run, own, name, samples=samples, bins=bins)
        for run, own, name in zip(runs, data, names_of(runs), strict=True)
    ]
    title = title_of(runs[0], "mutual information", data[0]) if len(runs) == 1 else "Mutual information"
    return InformationMaps(title, tuple(maps))


def information_map(
    run: Representation, data: FactorData, name: str = "", *, samples: int = 5_000, bins: int = 20
) -> Information:
    """Compute the heat map of one run, from the sample that reports and the page use as well.

    Args:
        run: The run.
        data: Its data set.
        name: The name of the run.
        samples: The number of random images.
        bins: The number of bins of a continuous latent.

    Returns:
        The matrix without constant factors, the most informative latents first.
    """
    found = run.follows(data, samples=samples, bins=bins)
    if found is None:
        raise InputError(f"mutual_information needs data with known factors, and {data.name} has images only.")
    varying = [k for k, factor in enumerate(found.factors) if factor not in found.constant]
    order, active = ordered_latents(run)[0], run.summary.active
    names = tuple(found.factors[k] for k in varying)
    share, chance = (matrix[order][:, varying].T for matrix in (found.share, found.chance))
    return Information(name, share, names, tuple(order), tuple(not active[latent] for latent in order), chance)


def draw_mutual_information(result: InformationMaps) -> Figure:
    """Draw one heat map per run, factors below one another, inactive latents grey; return the matplotlib figure."""
    return draw_maps(result.title, result.maps, label=ABOVE_CHANCE, greatest=1.0)


def draw_maps(title: str, maps: Sequence[Information], *, label: str, greatest: float | None) -> Figure:
    """Draw matrices of factors and latents below one another.

    Args:
        title: The title of the figure.
        maps: The matrices.
        label: What the numbers are, for the colour scale.
        greatest: The number at the end of the scale; by default the largest of each matrix.

    Returns:
        The matplotlib figure.
    """
    shortened = Labels()
    widest, tallest = max(len(m.latents) for m in maps), max(len(m.factors) for m in maps)
    cell = min(WIDEST, (PAGE - LONGEST - 0.4) / widest)  # inches of a latent
    every = max(1, math.ceil(NARROWEST / cell))  # of very many latents, only some have their name
    across = max(1, int((PAGE - LONGEST) / (cell * widest + 0.3)))
    across = min(across, len(maps)) if len(maps) > 2 else 1
    rows = -(-len(maps) // across)
    factor = max(LOWEST, min(HIGHEST, (PAGE_HEIGHT - 0.55 * rows - 0.6) / (tallest * rows)))
    figure, axes = panel_grid(rows, across)
    for panel in axes.flat[len(maps) :]:
        panel.set_axis_off()
    image: Any = None
    for place, (panel, entry) in enumerate(zip(axes.flat, maps, strict=False)):
        names = [f"z{latent}" if column % every == 0 else "" for column, latent in enumerate(entry.latents)]
        factors = [shortened.fit(words(name), LONGEST, SMALL) for name in entry.factors]
        if place % across and entry.factors == maps[place - 1].factors:
            factors = [""] * len(factors)
        look: dict[str, Any] = {"greatest": greatest, "grey_columns": entry.inactive}
        image = heat_map(panel, entry.matrix, factors, names, numbers=cell >= NUMBERED, upright=cell < UPRIGHT, **look)
        panel.set_xlim(-0.5, widest - 0.5)
        panel.spines[:].set_visible(len(entry.latents) == widest)
        if len(maps) > 1:
            panel.set_title(entry.name.replace("\n", ", "), fontsize=TEXT)
    grey = "Names in grey are of inactive latents." if any(any(m.inactive) for m in maps) else ""
    shown: dict[str, Any] = {"title": title, "caption": grey, "labels": shortened, "scale": (image, label)}
    return lay_out(figure, axes, height=factor * tallest, width=cell * widest, **shown)
