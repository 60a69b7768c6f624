"""Distance matrices along factor traversals, in every space of a run (Michlo et al. 2023, figures 4 and 10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.data.distances import Distance, correlation_text, distance_named, ground_truth_distance
from unweave.errors import InputError, whole
from unweave.figures.drawing.panels import PAGE, PAGE_HEIGHT, SMALL, TEXT
from unweave.figures.drawing.style import INACTIVE, SEQUENTIAL, new_page
from unweave.figures.drawing.subjects import names_of, title_of
from unweave.figures.drawing.texts import Labels, wrapped
from unweave.names import listed, words
from unweave.representation import Representation
from unweave.terms.gaussians import kl_between

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SPACES = ("ground truth", "perceived", "latent", "KL", "reconstruction")
LARGEST, SMALLEST = 1.2, 0.36  # inches of a matrix
LABEL, GAP, BELOW = 0.35, 0.06, 0.17  # inches left of a block, between matrices, and for the number below a matrix
TITLED = 0.6  # inches from one small matrix to the next, for their titles
LINE, MARGIN = 0.13, 0.08  # inches of a line of text, and around the figure
TRUTH, KL = "ground truth", "KL"
NARROW = {TRUTH: "ground\ntruth", "reconstruction": "recon-\nstruction"}  # titles of small matrices


@dataclass(frozen=True)
class RunDistances:
    """The name of each run and, by factor, its mean distance matrix (size, size) in each space."""

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
    runs: Sequence[Representation],
    data: Sequence[FactorData],
    generator: torch.Generator,
    *,
    traversals: int = 10,
    loss: str | Sequence[str] = "mse",
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
        loss: The name of the distance between images, or one for each run, as in figure 10 of the paper, where each run
            has the loss that it was trained with.
        factors: The factors that are shown, by default all.

    Returns:
        The matrices of each run, space and factor.
    """
    losses = [loss] * len(runs) if isinstance(loss, str) else list(loss)
    if len(losses) != len(runs):
        raise InputError(
            f"distances: loss must be one name or one for each of the {len(runs)} runs, got {len(losses)}."
        )
    distances = [distance_named(each) for each in losses]
    traversals = whole("traversals", traversals, at_least=1)
    state = generator.get_state()
    made = []
    for run, own, name, distance, each in zip(runs, data, names_of(runs), distances, losses, strict=True):
        chosen = [own.space.axis(factor) for factor in factors] or range(len(own.space))
        generator.set_state(state)
        found = {
            own.space.names[axis]: _matrices(run, own, axis, generator, traversals, distance)
            for axis in chosen
            if own.space.sizes[axis] > 1
        }
        shown = name if len(set(losses)) == 1 else f"{name}, {each}"
        made.append((shown.replace("\n", ", "), found))
    named = ", ".join(words(each) for each in dict.fromkeys(losses))
    title = (
        title_of(runs[0], f"distances, {named}", data[0]) if len(runs) == 1 else f"Distances along traversals, {named}"
    )
    return RunDistances(title, named, tuple(made))


def _matrices(
    run: Representation, data: FactorData, axis: int, generator: torch.Generator, traversals: int, distance: Distance
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
        if run.decodes:
            found["reconstruction"] = pairwise(distance, run.decode(codes))
        for space, matrix in found.items():
            totals[space] = totals.get(space, 0) + matrix / traversals
    return totals


def pairwise(distance: Callable[[Tensor, Tensor], Tensor], images: Tensor) -> Tensor:
    """Return the distances (n, n) between images (n, C, H, W); the row's image is the first argument."""
    return torch.stack([distance(image.expand_as(images), images).double() for image in images])


def draw_run_distances(result: RunDistances) -> Figure:
    """Draw one block per run, with one row per factor and one column per space, and return the matplotlib figure.

    Each matrix is scaled to its largest entry. Below it is its correlation with the ground truth off the diagonal.
    """
    if not any(factors for _, factors in result.runs):
        raise InputError("distances: there is nothing to draw, because no factor has two values.")
    across = min(2, len(result.runs))
    blocks = [result.runs[start : start + across] for start in range(0, len(result.runs), across)]
    found = {space for _, factors in result.runs for spaces in factors.values() for space in spaces}
    columns = [space for space in SPACES if space in found]
    rows = [max(len(factors) for _, factors in line) for line in blocks]
    side = (PAGE - 2 * MARGIN) / across - LABEL
    width, shortened = PAGE, Labels()
    names = [shortened.fit(name, side - 0.1, TEXT) for name, _ in result.runs]
    inner = width - 2 * MARGIN
    title, footer = wrapped(result.title, inner, TEXT + 1), wrapped(_footer(result), inner, SMALL)
    named = LINE + 0.06 if len(result.runs) > 1 else 0.0
    head = 0.2 + LINE * len(title)
    above = named + 2 * LINE + 0.04  # of a block: the name of its run, and the titles of columns
    widest = min(LARGEST, side / len(columns) - GAP)

    def fitting(foot: float) -> float:
        """Return the side of a matrix with which the figure fits on a page."""
        return max(SMALLEST, min(widest, (PAGE_HEIGHT - head - foot - above * len(blocks)) / sum(rows) - BELOW))

    side = fitting(0.1 + LINE * len(footer))
    short = {
        factor: shortened.fit(words(factor), side + BELOW, SMALL) for _, factors in result.runs for factor in factors
    }
    if shortened.caption:
        footer += wrapped(shortened.caption, inner, SMALL)
    foot = 0.1 + LINE * len(footer)
    side = fitting(foot)
    pitch = max(side + GAP, min(TITLED, (inner / across - LABEL) / len(columns)))
    height = head + foot + above * len(blocks) + sum(rows) * (side + BELOW)
    figure = new_page(height)
    block = (width - 2 * MARGIN) / across

    def write(x: float, y: float, lines: Sequence[str], size: float, **look: Any) -> None:
        figure.text(x / width, y / height, "\n".join(lines), fontsize=size, **look)

    write(MARGIN, height - MARGIN, title, TEXT + 1, va="top")
    write(MARGIN, MARGIN, footer, SMALL, va="bottom")
    top = height - head
    titles = iter(names)
    for line, count in zip(blocks, rows, strict=True):
        for place, (_, factors) in enumerate(line):
            left = MARGIN + place * block + LABEL
            if named:
                write(left, top - 0.07, [next(titles)], TEXT, va="top")
            for row, (factor, spaces) in enumerate(factors.items()):
                y = top - above - row * (side + BELOW) - side
                for column, space in enumerate(columns):
                    x = left + column * pitch
                    panel = figure.add_axes((x / width, y / height, side / width, side / height))
                    _draw(panel, spaces, space)
                    if row == 0:
                        panel.set_title(NARROW.get(space, space) if side < 0.9 else space, fontsize=SMALL, pad=3)
                    if column == 0:
                        panel.set_ylabel(short[factor], fontsize=SMALL, labelpad=3)
        top -= above + count * (side + BELOW)
    return figure


def _draw(panel: Any, spaces: dict[str, Tensor], space: str) -> None:
    panel.set_xticks([])
    panel.set_yticks([])
    if space not in spaces:
        panel.spines[:].set_visible(False)
        panel.text(0.5, 0.5, "none", fontsize=SMALL, color=INACTIVE, ha="center", va="center")
        return
    panel.imshow(spaces[space].numpy(), cmap=SEQUENTIAL, vmin=0, interpolation="nearest", aspect="auto")
    panel.spines[:].set_linewidth(0.4)
    if space != TRUTH:
        verdict = correlation_text(spaces[TRUTH], spaces[space], digits=2).replace("-", "−")
        panel.set_xlabel(verdict, fontsize=SMALL, labelpad=2)


def _footer(result: RunDistances) -> str:
    """Return what the numbers are, and which runs have no KL and why."""
    text = "Below each matrix: its correlation with the ground truth."
    without = [name for name, factors in result.runs if not any(KL in spaces for spaces in factors.values())]
    if not without:
        return text
    if len(result.runs) == 1:
        return f"{text} There is no KL: the latents have no Gaussian posterior."
    return f"{text} There is no KL for {listed(without)}: the latents have no Gaussian posterior."
