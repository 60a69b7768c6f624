"""Curvature by decoder layer: where does the decoder bend along a latent?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import InputError, whole
from unweave.figures.drawing.panels import SMALL, TEXT, lay_out, panel_grid, style_methods
from unweave.figures.drawing.subjects import names_of, title_of
from unweave.metrics.scoring.inputs import Floats
from unweave.terms.curvature import second_differences
from unweave.training import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class LayerCurvature:
    """Relative curvature (layers, latents) of one run, averaged over images; the last layer is the image."""

    name: str
    layers: tuple[str, ...]
    latents: tuple[int, ...]
    values: Floats
    recipe: str = ""


@dataclass(frozen=True)
class Curvatures:
    """The curvature of each run."""

    title: str
    runs: tuple[LayerCurvature, ...]

    def records(self) -> list[dict[str, Any]]:
        """Return one row per run, layer and latent."""
        return [
            {"run": r.name.replace("\n", ", "), "layer": layer, "latent": latent, "curvature": float(r.values[i, j])}
            for r in self.runs
            for i, layer in enumerate(r.layers)
            for j, latent in enumerate(r.latents)
        ]


def make_curvature(
    runs: Sequence[Run],
    data: Sequence[FactorData],
    generator: torch.Generator,
    *,
    points: int = 32,
    step: float = 0.5,
) -> Curvatures:
    r"""Measure how much each layer bends along each active latent, at the codes of ``points`` random images.

    With a step v of ``step`` standard deviations of the latent over the data, it is the norm of
    :math:`f(z + v) - 2 f(z) + f(z - v)` over that of :math:`(f(z + v) - f(z - v)) / 2`, divided by ``step``: the
    relative change of the slope over one standard deviation. It is 0 for a linear layer.

    Args:
        runs: The runs whose decoders are measured.
        data: The data set of each run.
        generator: The source of randomness.
        points: The number of random images.
        step: The length of a step, in standard deviations of the latent.

    Returns:
        The curvature by run, layer and latent.
    """
    points = whole("points", points, at_least=1)
    if not step > 0:
        raise InputError(f"step must be above 0, got {step}.")
    measured = [
        _measure(run, own, generator, name, points, step)
        for run, own, name in zip(runs, data, names_of(runs), strict=True)
    ]
    title = title_of(runs[0], "curvature by layer", data[0]) if len(runs) == 1 else "Curvature by layer"
    return Curvatures(title, tuple(measured))


@torch.no_grad()
def _measure(
    run: Run, data: FactorData, generator: torch.Generator, name: str, points: int, step: float
) -> LayerCurvature:
    codes = run.encode(data.sample(points, generator).images)
    active = run.summary.active
    latents = [latent for latent in range(codes.shape[1]) if active[latent]] or list(range(codes.shape[1]))
    spread = torch.tensor(run.summary.std)
    steps = torch.zeros(len(latents), *codes.shape)
    for row, latent in enumerate(latents):
        steps[row, :, latent] = step * spread[latent]
    model = run.model
    hidden = getattr(model.decoder, "activations", None)
    device = next(model.parameters()).device

    def layers(z: Tensor) -> list[Tensor]:
        return [*(hidden(z) if hidden else ()), model.decode(z)]

    codes, steps = codes.to(device), steps.to(device)
    second = second_differences(layers, codes, steps)  # per layer, one (n, …) per latent
    rows = []
    names = [*(f"layer {number}" for number in range(1, len(second))), "image"]
    forward, backward = ([layers(codes + sign * v) for v in steps] for sign in (1, -1))
    for layer, bends in enumerate(second):
        ratios = []
        for j, bend in enumerate(bends):
            slope = (forward[j][layer] - backward[j][layer]) / 2
            ratios.append(_ratio(bend, slope) / step)
        rows.append(torch.stack(ratios))
    values = torch.stack(rows).double().cpu().numpy()
    return LayerCurvature(name, tuple(names), tuple(latents), values, run.configuration.recipe)


def _ratio(bend: Tensor, slope: Tensor) -> Tensor:
    """Return the mean over images of the norm of the bend over that of the slope; where nothing moves it is 0."""
    top, bottom = bend.flatten(1).norm(dim=1), slope.flatten(1).norm(dim=1)
    return torch.where(bottom > 0, top / bottom.clamp(min=1e-30), torch.zeros_like(top)).mean()


def draw_curvature(result: Curvatures) -> Figure:
    """Draw the mean over latents as one line per run, and every latent as a thin line; return the matplotlib figure."""
    styles = style_methods((entry.name for entry in result.runs), {entry.name: entry.recipe for entry in result.runs})
    figure, axes = panel_grid(1, 1)
    panel = axes[0, 0]
    longest = max((entry.layers for entry in result.runs), key=len)
    for entry in result.runs:
        places = range(len(longest) - len(entry.layers), len(longest))  # images of all runs below one another
        style = styles[entry.name]
        panel.plot(places, entry.values, color=style["color"], linewidth=0.5, alpha=0.4)
        panel.plot(places, entry.values.mean(1), linewidth=1.8, markersize=5, **style)
    panel.set_xticks(range(len(longest)), longest, fontsize=SMALL)
    panel.set_ylim(bottom=0)
    panel.set_ylabel("relative curvature", fontsize=TEXT)
    return lay_out(
        figure,
        axes,
        height=2.4,
        title=result.title,
        label="layers of the decoder; thin lines are latents, thick ones their mean",
        legend=styles if len(result.runs) > 1 else None,
        as_words=False,
        linestyle="-",
        linewidth=1.5,
    )
