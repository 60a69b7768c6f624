"""Runs, data sets and studies in a notebook: a table and, where it can be drawn, a picture."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import torch
from PIL import Image

from unweave.data import FactorData
from unweave.errors import InputError, MissingExtra, Unavailable
from unweave.metrics.scoring.display import html_table
from unweave.names import spelled, titled, words
from unweave.progress import duration
from unweave.questions._figure import figure, png_of
from unweave.store.state import status_of
from unweave.study import Study
from unweave.study.results import Grid, grids, named_methods
from unweave.training import Run

if TYPE_CHECKING:
    import pandas

IMAGES, COLUMNS, WIDTH = 24, 12, 768  # of a data set: images, images per row, and pixels of the picture


def run_html(run: Run) -> str:
    """Return what a run is, its stored scores, and the traversals of its latents."""
    c, state = run.configuration, run.state
    facts = {
        "run": f"{run.label} ({run.name})" if run.label else run.name,
        "method": spelled(c.recipe),
        "data": spelled(c.data.label),
        "state": status_of(run.folder, state.status) + ("" if c.linear else f" at step {run.step:,} of {c.steps:,}"),
        "seed": str(c.seed),
        "time": duration(state.seconds),
        "PSNR": "" if state.psnr is None else f"{state.psnr:.1f} dB",
    }
    scores = [(words(name), f"{value:.3f}") for name, value in run.scores.table.items()]
    hint = [f"<p>{escape(run.hint)}</p>"] if run.finished and run.hint else []
    rows = [(name, text) for name, text in facts.items() if text]
    picture = _drawn(lambda: png_of(figure("traversals", run)), "traversals") if run.finished else ""
    return "".join([html_table((), rows), *hint, html_table(("score", "value"), scores) if scores else "", picture])


def data_html(data: FactorData) -> str:
    """Return the factors of a data set, and some of its images."""
    known = data.space if data.has_factors else None
    rows = [("images", f"{data.num_images:,} of {' × '.join(map(str, data.shape))}")] if data.has_images else []
    rows += [("note", note) for note in data.notes]
    head = f"<p><b>{escape(spelled(data.identity.label))}</b></p>{html_table((), rows) if rows else ''}"
    factors = [] if known is None else list(zip(known.names, map(str, known.sizes), known.kinds, strict=True))
    factors = factors or [(name, "", "") for name in data.factor_names]
    table = html_table(("factor", "values", "kind"), factors) if factors else ""
    return head + table + (_drawn(lambda: _tiled(data), "images") if data.has_images else "")


def study_html(study: Study) -> str:
    """Return how many runs are in each state, the results of those that are finished, and the ranges of scores."""
    states = html_table(("state", "runs"), [(state, f"{count:,}") for state, count in sorted(study.status().items())])
    head = f"<p><b>{escape(study.spec.name)}</b></p>{states}"
    with titled(study.titles):
        try:
            tables = "".join(map(grid_html, grids(study.results())))
        except (InputError, MissingExtra):  # no run is finished
            return head
        return head + tables + _drawn(lambda: png_of(figure("score_ranges", _by_method(study))), "ranges of scores")


def _by_method(study: Study) -> pandas.DataFrame:
    """Return the finished runs of a study, each with its recipe and the settings that vary as its method."""
    table = study.table()
    runs = table[table["state"] == "finished"]
    return runs.assign(recipe=named_methods(runs), strength=0.0)


def grid_html(grid: Grid) -> str:
    """Return a table of results, the best of each column in bold."""
    return f"<p>{escape(grid.data)}</p>{html_table(grid.columns, grid.rows, best=grid.best)}"


def _drawn(draw: Callable[[], bytes], alt: str) -> str:
    """Return a picture, "" where it cannot be drawn: its data, or what draws it, is not here."""
    try:
        content = base64.b64encode(draw()).decode()
    except (InputError, Unavailable, MissingExtra):
        return ""
    return f'<img alt="{alt}" style="max-width:100%" src="data:image/png;base64,{content}">'


def _tiled(data: FactorData) -> bytes:
    """Return random images of a data set side by side as PNG, enlarged by a whole number."""
    images = data.sample(IMAGES, torch.Generator().manual_seed(0)).images
    scale = max(1, WIDTH // (COLUMNS * images.shape[3]))
    large = images.permute(0, 2, 3, 1).numpy().repeat(scale, 1).repeat(scale, 2)  # (B, H, W, C)
    rows = [np.concatenate(large[first : first + COLUMNS], axis=1) for first in range(0, IMAGES, COLUMNS)]
    pixels = np.concatenate(rows)
    stream = io.BytesIO()
    Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels[..., :3]).save(stream, "png")
    return stream.getvalue()
