"""Random samples: decoded random codes of one or several runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import whole
from unweave.figures.drawing.strips import draw_strips, to_bytes
from unweave.figures.drawing.subjects import names_of, title_of
from unweave.names import listed, spelled
from unweave.representation import Representation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRIOR = "codes sampled from the prior"
MARGINALS = "each latent sampled from its distribution over the data"


@dataclass(frozen=True)
class Samples:
    """Rows of decoded samples (n, C, H, W) uint8 with their labels; ``source`` says where the codes come from."""

    title: str
    rows: tuple[tuple[str, Tensor], ...]
    source: str


def make_samples(
    runs: Sequence[Representation],
    data: Sequence[FactorData],
    generator: torch.Generator,
    *,
    columns: int = 16,
    rows: int = 2,
    images: bool = True,
) -> Samples:
    """Sample and decode codes: from the prior of a Gaussian latent, otherwise from the distribution of each latent.

    Args:
        runs: The runs that decode.
        data: The data set of each run.
        generator: The source of randomness.
        columns: The number of images in a row.
        rows: The number of rows of each run.
        images: Whether a row of random images of each data set stands above its runs.

    Returns:
        The images of all rows.
    """
    rows, columns = whole("rows", rows, at_least=1), whole("columns", columns, at_least=1)
    made: dict[str, list[tuple[str, Tensor]]] = {}
    for run, own, name in zip(runs, data, names_of(runs), strict=True):
        place = own.identity.model_dump_json()
        if place not in made:
            label = f"{spelled(own.identity.label)}\nimages"
            made[place] = [(label, own.sample(columns, generator).images)] if images else []
        decoded = to_bytes(run.sample(rows * columns, generator))
        made[place] += [(name if row == 0 else "", part) for row, part in enumerate(decoded.split(columns))]
    title = title_of(runs[0], "random samples", data[0]) if len(runs) == 1 else "Random samples"
    return Samples(title, tuple(row for block in made.values() for row in block), _source(runs))


def draw_samples(result: Samples) -> Figure:
    """Draw the rows of samples with a line that says where codes come from, and return the matplotlib figure."""
    return draw_strips(result.title, result.rows, footer=result.source)


def _source(runs: Sequence[Representation]) -> str:
    """Return where codes come from as one sentence, with the names of runs if they differ in it."""
    kinds: dict[str, list[str]] = {}
    for run, name in zip(runs, names_of(runs), strict=True):
        kinds.setdefault(PRIOR if run.has_posterior else MARGINALS, []).append(name.replace("\n", ", "))
    if len(kinds) == 1:
        (kind,) = kinds
        return f"{kind[0].upper()}{kind[1:]}."
    return "; ".join(f"{listed(names)}: {kind}" for kind, names in kinds.items()) + "."
