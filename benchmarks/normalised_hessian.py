"""Look for spikes of Tripod's normalised Hessian term in training: ``python benchmarks/normalised_hessian.py [STORE]``.

The term is a ratio of two variances. On a decoder without curvature its denominator is almost zero, and single steps
are many orders of magnitude above the others. Writes ``benchmarks/normalised_hessian.md``.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from typing import Any

import unweave

RUNS = [("sum", 0.05, 2_000), ("single", 0.05, 2_000), ("sum", 1.0, 400), ("single", 1.0, 400)]  # layers, share, steps
LIMIT = 100  # times the median


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


def main() -> None:
    """Train or open the runs, and write the page."""
    store = sys.argv[1] if len(sys.argv) > 1 else "runs"
    lines = [
        "# The normalised Hessian term during training",
        "",
        "Written by `python benchmarks/normalised_hessian.py`: `tripod` with the net conv64, whose activation is then",
        "GELU, on 32 × 32 dSprites, one seed, with the default weights. The term of every step is logged. `layers` and",
        "`share` are settings of the term: one ratio per layer, summed, or a single ratio; and the share of the batch.",
        "",
        "| settings | median | maximum | maximum / median | target |",
        "|---|---|---|---|---|",
        *(row(*run, store) for run in RUNS),
        "",
    ]
    Path(__file__).with_suffix(".md").write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
