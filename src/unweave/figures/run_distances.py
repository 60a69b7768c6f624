"""Distance matrices along factor traversals, in every space of a run (Michlo et al. 2023, figures 4 and 10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.data.distances import Distance, distance_named, ground_truth_distance
from unweave.errors import whole
from unweave.figures.panels import PAGE, SMALL, TEXT
from unweave.figures.style import SEQUENTIAL, new_figure
from unweave.figures.titles import names_of, title_of
from unweave.terms.gaussians import kl_between
from unweave.training import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPACES = ("ground truth", "perceived", "latent", "KL", "reconstruction")


@dataclass(frozen=True)
class RunDistances:
    """One row per run and factor: its name, and the mean distance matrix (size, size) in each space."""

    title: str
    loss: str
    rows: tuple[tuple[str, dict[str, Tensor]], ...]

    def records(self) -> list[dict[str, Any]]:
        """Return one row per factor, space and pair of values."""
        return [
            {"row": name.replace("\n", ", "), "space": space, "from": a, "to": b, "distance": float(matrix[a, b])}
            for name, spaces in self.rows
            for space, matrix in spaces.items()
            for a in range(len(matrix))
            for b in range(len(matrix))
        ]


def make_run_distances(
    runs: Sequence[Run],
    data: Sequence[FactorData],
    generator: torch.Generator,
    *,
    traversals: int = 10,
    loss: str = "mse",
    factors: Sequence[str] = (),
) -> RunDistances:
    """Average distances over ``traversals`` of each factor through random points (eq. 10).

    Spaces are ground truth (ℓ1 of factors), perceived (``loss`` between images), latent (ℓ2 between codes), KL (from
    the posterior of the row's image to that of the column's, only for Gaussian posteriors) and reconstruction
    (``loss`` between reconstructions). ``factors`` limits the rows to these factors.
    """
    distance = distance_named(loss)
    traversals = whole("traversals", traversals, at_least=1)
    rows = []
    for run, own, name in zip(runs, data, names_of(runs), strict=True):
        chosen = [own.space.axis(factor) for factor in factors] or range(len(own.space))
        for axis in chosen:
            if own.space.sizes[axis] < 2:
                continue
            label = own.space.names[axis] if len(runs) == 1 else f"{name}\n{own.space.names[axis]}"
            rows.append((label, _matrices(run, own, axis, generator, traversals, distance)))
    title = title_of(runs[0], f"distances, {loss}") if len(runs) == 1 else f"Distances along traversals, {loss}"
    return RunDistances(title, loss, tuple(rows))


def _matrices(
    run: Run, data: FactorData, axis: int, generator: torch.Generator, traversals: int, distance: Distance
) -> dict[str, Tensor]:
    lines = data.space.traverse(data.space.sample(traversals, generator), axis)  # (traversals, size, K)
    totals: dict[str, Tensor] = {}
    for line in lines:
        images = data.images(line, generator).float() / 255  # (size, C, H, W)
        codes = run.encode(images)
        found = {
            "ground truth": ground_truth_distance(line[:, None], line).double(),
            "perceived": pairwise(distance, images),
            "latent": torch.cdist(codes.double(), codes.double()),
        }
        if run.has_posterior:
            mean, logvar = (side.double() for side in run.posterior(images))
            found["KL"] = kl_between(mean[:, None], logvar[:, None], mean, logvar).sum(-1)
        found["reconstruction"] = pairwise(distance, run.decode(codes))
        for space, matrix in found.items():
            totals[space] = totals.get(space, 0) + matrix / traversals
    return totals


def pairwise(distance: Callable[[Tensor, Tensor], Tensor], images: Tensor) -> Tensor:
    """Return the distances (n, n) between images (n, C, H, W); the row's image is the first argument."""
    return torch.stack([distance(image.expand_as(images), images).double() for image in images])


def draw_run_distances(result: RunDistances) -> Figure:
    """Draw one row per factor and one column per space, and return the matplotlib figure.

    Each matrix is scaled to its largest entry. Below it is its correlation with the ground truth off the diagonal.
    """
    spaces = [space for space in SPACES if any(space in found for _, found in result.rows)]
    side = min(1.45, (PAGE - 1.0) / len(spaces))  # inches of a matrix
    figure = new_figure(side * len(spaces) + 1.0, (side + 0.1) * len(result.rows) + 0.7)
    axes = figure.subplots(len(result.rows), len(spaces), squeeze=False)
    for row, (name, found) in enumerate(result.rows):
        for column, space in enumerate(spaces):
            panel = axes[row, column]
            panel.set_xticks([])
            panel.set_yticks([])
            if space not in found:
                panel.set_axis_off()
                continue
            panel.imshow(found[space].numpy(), cmap=SEQUENTIAL, vmin=0, interpolation="nearest")
            panel.spines[:].set_linewidth(0.4)
            if space != "ground truth":
                panel.set_xlabel(_correlation(found["ground truth"], found[space]), fontsize=SMALL, labelpad=2)
            if row == 0:
                panel.set_title(space, fontsize=TEXT)
        axes[row, 0].set_ylabel(name, fontsize=TEXT)
    figure.suptitle(result.title, fontsize=TEXT + 1 if len(result.title) < 90 else SMALL)
    return figure


def _correlation(truth: Tensor, other: Tensor) -> str:
    off = ~torch.eye(len(truth), dtype=torch.bool)
    if len(truth) < 3:
        return "two values"
    both = torch.stack([truth[off], other[off].double()])
    if (both.std(1) <= 1e-6 * both.abs().mean(1)).any():
        return "constant"
    return f"r = {float(torch.corrcoef(both)[0, 1]):.2f}"
