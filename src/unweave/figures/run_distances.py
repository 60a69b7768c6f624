"""Distance matrices along factor traversals, in every space of a run (Michlo et al. 2023, figures 4 and 10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.data.distances import Distance, distance_named, ground_truth_distance
from unweave.errors import whole
from unweave.figures.drawing.titles import names_of, title_of
from unweave.terms.gaussians import kl_between
from unweave.training import Run

SPACES = ("ground truth", "perceived", "latent", "KL", "reconstruction")


@dataclass(frozen=True)
class RunDistances:
    """For each run its name and, by factor, the mean distance matrix (size, size) in each space."""

    title: str
    loss: str
    runs: tuple[tuple[str, dict[str, dict[str, Tensor]]], ...]

    def records(self) -> list[dict[str, Any]]:
        """Return one row per run, factor, space and pair of values."""
        return [
            {"run": run, "factor": factor, "space": space, "from": a, "to": b, "distance": float(matrix[a, b])}
            for run, factors in self.runs
            for factor, spaces in factors.items()
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
    the posterior of the row's image to that of the column's, only for Gaussian posteriors) and reconstruction (``loss``
    between reconstructions). Runs on the same data have the same traversals.

    Args:
        runs: The runs to show.
        data: The data set of each run.
        generator: The source of randomness.
        traversals: The number of traversals of each factor.
        loss: The name of the distance between images.
        factors: The factors that are shown, by default all.

    Returns:
        The matrices of each run, space and factor.
    """
    distance = distance_named(loss)
    traversals = whole("traversals", traversals, at_least=1)
    state = generator.get_state()
    made = []
    for run, own, name in zip(runs, data, names_of(runs), strict=True):
        chosen = [own.space.axis(factor) for factor in factors] or range(len(own.space))
        generator.set_state(state)
        found = {
            own.space.names[axis]: _matrices(run, own, axis, generator, traversals, distance)
            for axis in chosen
            if own.space.sizes[axis] > 1
        }
        made.append((name.replace("\n", ", "), found))
    title = (
        title_of(runs[0], f"distances, {loss}", data[0]) if len(runs) == 1 else f"Distances along traversals, {loss}"
    )
    return RunDistances(title, loss, tuple(made))


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
