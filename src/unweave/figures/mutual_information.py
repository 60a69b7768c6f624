"""Mutual information between factors and latents as a heat map (Hsu et al. 2024, figures 5 and 7 to 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from unweave.data import FactorData
from unweave.errors import InputError
from unweave.figures.drawing.latent_rows import ordered_latents
from unweave.figures.drawing.panels import PAGE, PAGE_HEIGHT, SMALL, TEXT
from unweave.figures.drawing.style import add_colour_bar, heat_map, new_figure
from unweave.figures.drawing.titles import names_of, title_of
from unweave.metrics.scoring.inputs import Floats
from unweave.names import words
from unweave.representation import Representation

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ABOVE_CHANCE = "I(z; f) / H(f) above chance"
NARROWEST, NUMBERED = 0.2, 0.3  # inches of a latent: at least, and from which values are written into cells
LOWEST, HIGHEST = 0.16, 0.34  # inches of a factor


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
    """Compute the heat map of one run, from the sample that reports and the page use as well."""
    found = run.follows(data, samples=samples, bins=bins)
    if found is None:
        raise InputError(f"mutual_information needs data with known factors, and {data.name} has images only.")
    varying = [k for k, factor in enumerate(found.factors) if factor not in found.constant]
    order, active = ordered_latents(run)[0], run.summary.active
    names = tuple(words(found.factors[k]) for k in varying)
    share, chance = (matrix[order][:, varying].T for matrix in (found.share, found.chance))
    return Information(name, share, names, tuple(order), tuple(not active[latent] for latent in order), chance)


def draw_mutual_information(result: InformationMaps) -> Figure:
    """Draw one heat map per run, factors below one another, inactive latents grey; return the matplotlib figure."""
    return draw_maps(result.title, result.maps, label=ABOVE_CHANCE, greatest=1.0)


def draw_maps(title: str, maps: Sequence[Information], *, label: str, greatest: float | None) -> Figure:
    """Draw matrices of factors and latents below one another, and return the matplotlib figure."""
    widest = max(len(m.latents) for m in maps)
    tallest = sum(len(m.factors) for m in maps)
    cell = min(0.42, max(NARROWEST, (PAGE - 2.6) / widest))  # inches of a latent
    rest = 0.55 * len(maps) + 0.6
    factor = max(LOWEST, min(HIGHEST, (PAGE_HEIGHT - rest) / tallest))
    figure = new_figure(cell * widest + 2.6, factor * tallest + rest)
    axes = figure.subplots(len(maps), 1, squeeze=False)[:, 0]
    for panel, entry in zip(axes, maps, strict=True):
        names = [f"z{latent}" for latent in entry.latents]
        look: dict[str, Any] = {"greatest": greatest, "grey_columns": entry.inactive, "numbers": cell >= NUMBERED}
        image = heat_map(panel, entry.matrix, entry.factors, names, **look)
        if len(maps) > 1:
            panel.set_title(entry.name.replace("\n", ", "), fontsize=TEXT)
    grey = ", inactive latents grey" if any(any(m.inactive) for m in maps) else ""
    add_colour_bar(figure, image, list(axes), label)
    figure.suptitle(f"{title}{grey}", fontsize=TEXT if len(title) < 80 else SMALL, wrap=True)
    return figure
