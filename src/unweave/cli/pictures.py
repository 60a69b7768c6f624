"""The pictures of a run: reconstructions and traversals, in files named after the run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unweave.cli.opening import stem_of
from unweave.cli.options import save

if TYPE_CHECKING:
    from unweave.data import FactorData
    from unweave.training import Run


def draw_pictures(run: Run, data: FactorData, folder: Path) -> None:
    """Write the pictures of a run; each run has its own files."""
    from unweave.figures import draw_reconstructions, draw_traversals, make_reconstructions, make_traversals
    from unweave.training.streams import stream

    generator = stream(run.configuration.seed, "pictures")
    stem = stem_of(run)
    save(draw_reconstructions(make_reconstructions(run, data, generator)), folder / f"{stem}-reconstructions.png")
    save(draw_traversals(make_traversals(run, data, generator)), folder / f"{stem}-traversals.png")
