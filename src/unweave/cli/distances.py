"""The output of ``unweave data distances``: perceived distances and constants for standardisation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from unweave.cli.options import console

if TYPE_CHECKING:
    from unweave.data.distances import ChannelStatistics, Importance, Matrices


def print_distances(rows: Sequence[Importance], matrices: Sequence[Matrices], statistics: ChannelStatistics) -> None:
    """Print one row per factor, and one row per channel."""
    verdicts = {entry.factor: entry.verdict for entry in matrices}
    table = Table("factor", "mean", "std", "correlation with ground truth", box=None, pad_edge=False)
    for row in rows:
        table.add_row(row.factor, f"{row.mean:.4f}", f"{row.std:.4f}", verdicts.get(row.factor, ""))
    console.print(table)
    constants = Table("channel", "mean", "std", box=None, pad_edge=False)
    for channel, (mean, std) in enumerate(zip(statistics.mean, statistics.std, strict=True)):
        constants.add_row(str(channel), f"{mean:.6f}", f"{std:.6f}")
    sampled = "all" if statistics.exact else "a sample"
    console.print(f"\nConstants for standardisation, from {statistics.images:,} images ({sampled})")
    console.print(constants)


def distances_as_json(
    rows: Sequence[Importance], matrices: Sequence[Matrices], statistics: ChannelStatistics
) -> dict[str, Any]:
    """Return the same numbers for JSON; a correlation that is not defined is None."""
    correlations = {entry.factor: _correlation(entry) for entry in matrices}
    return {
        "factors": [
            {"factor": row.factor, "mean": row.mean, "std": row.std, "correlation": correlations.get(row.factor)}
            for row in rows
        ],
        "channels": {
            "mean": statistics.mean.tolist(),
            "std": statistics.std.tolist(),
            "images": statistics.images,
            "exact": statistics.exact,
        },
    }


def _correlation(matrices: Matrices) -> float | None:
    """Return the correlation, or None for fewer than three values or constant distances."""
    if len(matrices.perceived) < 3 or math.isnan(matrices.correlation):
        return None
    return matrices.correlation
