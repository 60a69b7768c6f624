"""Measure Tripod's normalised Hessian term: ``python benchmarks/normalised_hessian.py [bias] [training]``.

``bias`` compares the estimate with the quantity that it estimates, which lies in [0, 1], for several numbers of
directions. ``training`` looks for spikes: the term is a ratio of two variances, and on a decoder without curvature its
denominator is almost zero, so that single steps are many orders of magnitude above the others. Writes
``benchmarks/normalised_hessian.md``; a part that is not measured keeps its text.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import unweave
from unweave.terms.curvature import normal, rademacher, second_differences
from unweave.terms.normalised_hessian import EPSILON, normalised_hessian_penalty
from unweave.training.assembly import build_model
from unweave.training.configuration import configure

Activations = Callable[[Tensor], Sequence[Tensor]]

RUNS = [("sum", 0.05, 2_000), ("single", 0.05, 2_000), ("sum", 1.0, 400), ("single", 1.0, 400)]  # layers, share, steps
LIMIT = 100  # times the median
MODEL = "qlae-shapes3d-drawn"
CODES, DIRECTIONS, ESTIMATES = 8, (2, 4, 8), 100


def values(layers: str, share: float, steps: int, store: str) -> list[float]:
    """Train ``tripod`` and return the term of every step."""
    settings: dict[str, Any] = {"normalised_hessian.layers": layers, "normalised_hessian.share": share}
    data = unweave.load("dsprites", size=32)
    execution: dict[str, Any] = {"threads": 1, "device": "cpu", "log_steps": 1, "store": store}
    run = unweave.train("tripod", data, net="conv64", steps=steps, **execution, **settings)
    return [line["normalised_hessian"] for line in run.log if "normalised_hessian" in line]


def row(layers: str, share: float, steps: int, store: str) -> str:
    """Return one row of the table."""
    term = values(layers, share, steps, store)
    median, largest = statistics.median(term), max(term)
    name = f"layers={layers}, share={share:g}, {steps:,} steps"
    return f"| {name} | {median:.3g} | {largest:.3g} | {largest / median:.1f} | ≤ {LIMIT} |"


def training() -> list[str]:
    """Train or open the runs, and return their section."""
    return [
        TITLES["training"],
        "",
        "`tripod` with the net conv64, whose activation is then GELU, on 32 × 32 dSprites, one seed, default weights.",
        "The term of every step is logged. `layers` and `share` are settings of the term: one ratio per layer, summed,",
        "or a single ratio; and the share of the batch.",
        "",
        "| settings | median | maximum | maximum / median | target |",
        "|---|---|---|---|---|",
        *(row(*run, "runs") for run in RUNS),
    ]


def bias() -> list[str]:
    """Compare estimates with the exact value on decoders of Tripod, and return their section."""
    lines = [
        TITLES["bias"],
        "",
        f"Mean over the layers of two decoders with GELU, at {CODES} codes each: that of `zoo:{MODEL}`, and the one",
        "of Tripod, of a quarter of its width, before training. The quantity itself comes from all second differences;",
        f"beside it are mean and deviation of {ESTIMATES} estimates. The term with `layers=sum` adds the layers up.",
        "",
        "| decoder | exact | " + " | ".join(f"{k} directions" for k in DIRECTIONS) + " |",
        "|---|---|" + "---|" * len(DIRECTIONS),
    ]
    for name, activations, z, scale in _decoders():
        found = [_estimates(activations, z, scale, k) for k in DIRECTIONS]
        shown = " | ".join(f"{statistics.mean(each):.2f} ± {statistics.stdev(each):.2f}" for each in found)
        lines.append(f"| {name} | {_exact(activations, z, scale):.2f} | {shown} |")
    return lines


def _decoders() -> Iterator[tuple[str, Activations, Tensor, Tensor]]:
    """Yield decoders with codes and their scales."""
    run = unweave.open(f"zoo:{MODEL}")
    data = run.data()
    with torch.no_grad():
        images = data.rows(torch.arange(0, data.num_images, data.num_images // 500)).float() / 255
        codes = run.encode(images)
    yield "trained", run.model.activations, codes[:CODES], codes.std(0)
    data = unweave.load("xysquares", size=64)
    configuration, _ = configure("tripod", data, {"net": "tripod", "net.width": 0.25, "latents": 12})
    model = build_model(configuration)
    generator = torch.Generator().manual_seed(0)
    yield "untrained", model.activations, 2 * torch.rand(CODES, 12, generator=generator) - 1, torch.full((12,), 3**-0.5)


def _estimates(activations: Activations, z: Tensor, scale: Tensor, k: int) -> list[float]:
    generator = torch.Generator().manual_seed(k)
    with torch.no_grad():
        return [
            normalised_hessian_penalty(
                activations, z, scale, rademacher(k, z, generator), normal(k, z, generator)
            ).item()
            / len(activations(z[:1]))
            for _ in range(ESTIMATES)
        ]


def _exact(activations: Activations, z: Tensor, scale: Tensor) -> float:
    """Return the share of the squares of the Hessian off its diagonal, averaged over codes and layers."""
    size = z.shape[1]
    pairs = [(i, j) for i in range(size) for j in range(i, size)]
    steps = torch.zeros(2 * len(pairs), size)
    for place, (i, j) in enumerate(pairs):
        steps[2 * place, i] += 1
        steps[2 * place, j] += 1
        steps[2 * place + 1, i] += 1
        steps[2 * place + 1, j] -= 1
    with torch.no_grad():
        layers = second_differences(activations, z, (EPSILON * steps * scale)[:, None].expand(-1, len(z), -1))
    ratios = []
    for differences in layers:
        off, whole = torch.zeros(len(z)), torch.zeros(len(z))
        for place, (i, j) in enumerate(pairs):  # d(u + v) - d(u - v) = 4 H(u, v), and d(2 u) = 4 H(u, u)
            entry = (differences[2 * place] - differences[2 * place + 1]) / 4
            square = entry.square().flatten(1).sum(1) * (1 if i == j else 2)
            whole += square
            off += square if i != j else 0
        ratios.append((off / whole).mean().item())
    return statistics.mean(ratios)


PARTS = {"bias": bias, "training": training}
TITLES = {"bias": "Bias and noise", "training": "During training"}


def main() -> None:
    """Measure the parts that are named, or both, and write the page."""
    page = Path(__file__).with_suffix(".md")
    wanted = sys.argv[1:] or list(PARTS)
    kept = {text.partition("\n")[0]: text.strip() for text in page.read_text(encoding="utf-8").split("\n## ")[1:]}
    found = ["\n".join(PARTS[name]()) if name in wanted else kept.get(TITLES[name], "") for name in PARTS]
    head = "# The normalised Hessian term\n\nWritten by `python benchmarks/normalised_hessian.py`."
    page.write_text("\n\n## ".join([head, *filter(None, found)]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
