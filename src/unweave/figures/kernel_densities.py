"""The density estimate behind Tripod's kernel multiinformation: marginals and level sets of pairs of latents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import whole
from unweave.figures.drawing.panels import BLUE, GREY, RED, TEXT, lay_out, panel_grid
from unweave.figures.drawing.subjects import ordered_latents, title_of
from unweave.metrics.scoring.inputs import Floats
from unweave.terms.kernel_multiinformation import kernel_multiinformation, log_kernels, silverman
from unweave.terms.term import batch_scale
from unweave.training import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 61  # of a grid in each direction
BEYOND = 2.5  # bandwidths of a marginal by which the grid goes beyond the codes
LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)  # of the largest value of a density


@dataclass(frozen=True, eq=False)
class KernelDensities:
    """The densities of a batch on a grid, for the latents in the order drawn."""

    title: str
    latents: tuple[int, ...]
    codes: Floats  # (B, latents)
    kernel: Floats  # (latents,) the bandwidth of the joint density
    grid: Floats  # (latents, points)
    marginals: Floats  # (latents, points), of the term: with the scale of a latent as bandwidth
    joint_marginals: Floats  # (latents, points), the marginals of the joint density
    joints: Floats  # (latents, latents, points, points), the joint density of two latents; the second varies last
    multiinformation: float  # nats, of all latents of the run


def make_kernel_densities(
    run: Run, data: FactorData, generator: torch.Generator, *, batch: int = 64, most: int = 3
) -> KernelDensities:
    """Encode one random batch and estimate densities of its codes as the kernel multiinformation does.

    A kernel is a product over latents, so the density of two latents is the mean of the kernels in these two, with the
    bandwidth of the joint density of all latents.

    Args:
        run: The run that encodes.
        data: The data set to draw images from.
        generator: The source of randomness.
        batch: The number of images; the bandwidth of the joint density depends on it.
        most: The number of latents that are shown, the most informative first.

    Returns:
        The densities, and the multiinformation that follows from them.
    """
    images = data.sample(whole("batch", batch, at_least=2), generator).images
    z, continuous = _codes(run, images)
    scale = batch_scale(continuous)
    latents = ordered_latents(run)[0][: whole("most", most, at_least=2)]
    shown, wide = z[:, latents], scale[latents]
    narrow = silverman(*z.shape) * wide
    low, high = shown.amin(0) - BEYOND * wide, shown.amax(0) + BEYOND * wide
    grid = low + torch.linspace(0, 1, POINTS, dtype=z.dtype)[:, None] * (high - low)  # (points, latents)
    kernels = log_kernels(grid, shown, narrow).exp()  # (points, B, latents)
    joints = torch.einsum("pbi,qbj->ijpq", kernels, kernels) / len(z)
    return KernelDensities(
        title_of(run, f"kernel densities of a batch of {len(z)}", data),
        tuple(latents),
        shown.numpy(),
        narrow.numpy(),
        grid.T.numpy(),
        log_kernels(grid, shown, wide).exp().mean(1).T.numpy(),
        kernels.mean(1).T.numpy(),
        joints.numpy(),
        float(kernel_multiinformation(z, scale)),
    )


@torch.no_grad()
def _codes(run: Run, images: Tensor) -> tuple[Tensor, Tensor]:
    """Return the codes (B, D) that the decoder sees, and those before rounding, which have the scale."""
    device = next(run.model.parameters()).device
    code = run.model.code((images.float() / 255 if images.dtype == torch.uint8 else images).to(device))
    return code.representation.double().cpu(), code.continuous.double().cpu()


def draw_kernel_densities(result: KernelDensities) -> Figure:
    """Draw marginals on the diagonal and level sets of every pair beside it; return the matplotlib figure."""
    count = len(result.latents)
    figure, axes = panel_grid(count, count)
    for row in range(count):
        for column in range(count):
            panel = axes[row, column]
            if row == column:
                panel.plot(result.grid[row], result.marginals[row], color=BLUE)
                panel.plot(result.grid[row], result.joint_marginals[row], color=RED, linestyle="--", linewidth=1)
                panel.set_ylim(bottom=0)
                panel.set_yticks([])
                panel.spines["left"].set_visible(False)
            elif column < row:
                _draw_joint(panel, result, column, row)
            else:
                product = result.marginals[row][:, None] * result.marginals[column]  # (points, points)
                _level_sets(panel, result, column, row, product, BLUE)
            panel.set_xlim(result.grid[column][[0, -1]])
            if row == count - 1:
                panel.set_xlabel(f"z{result.latents[column]}", fontsize=TEXT)
            if column == 0 and row:
                panel.set_ylabel(f"z{result.latents[row]}", fontsize=TEXT)
            panel.tick_params(labelbottom=row == count - 1, labelleft=column == 0 and row > 0)
    caption = (
        "Below the diagonal: level sets of the joint density of two latents, with the codes and the ellipse of each "
        "code's kernel at one bandwidth. Diagonal: the marginal that the term uses (solid), and the marginal of the "
        "joint density, whose bandwidth is smaller (dashed). Above: level sets of the product of the two marginals. "
        f"The multiinformation of all latents in this batch is {result.multiinformation:.3g} nats."
    )
    return lay_out(figure, axes, height=min(1.7, 6.0 / count), title=result.title, caption=caption)


def _draw_joint(panel: Any, result: KernelDensities, across: int, down: int) -> None:
    from matplotlib.collections import EllipseCollection

    _level_sets(panel, result, across, down, result.joints[down, across], RED)
    codes = np.unique(result.codes[:, [across, down]], axis=0)  # quantised codes coincide
    wide, tall = np.full((2, len(codes)), 2.0) * result.kernel[[across, down], None]
    ellipses = EllipseCollection(
        wide, tall, np.zeros(len(codes)), units="xy", offsets=codes, offset_transform=panel.transData
    )
    ellipses.set(facecolor="none", edgecolor=GREY, linewidth=0.4)
    panel.add_collection(ellipses)
    panel.plot(*codes.T, ".", color="black", markersize=2)


def _level_sets(panel: Any, result: KernelDensities, across: int, down: int, density: Floats, colour: str) -> None:
    levels = [share * density.max() for share in LEVELS]
    panel.contour(result.grid[across], result.grid[down], density, levels=levels, colors=colour, linewidths=0.8)
    panel.set_ylim(result.grid[down][[0, -1]])
