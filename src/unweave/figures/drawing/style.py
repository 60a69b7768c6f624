"""The shared style of all figures: palettes, heat maps, and files that do not change from one writing to the next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.errors import InputError, extra
from unweave.figures.drawing.panels import SMALL, TEXT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEQUENTIAL = "viridis"  # perceptually uniform, also in grey print
DIVERGING = "RdBu_r"  # blue below 0, white at 0, red above; safe for colour-blind readers
FADED = "#222222"  # numbers on a light cover
INACTIVE = "#8a8a8a"  # labels of latents that do not depend on the image
FORMATS = (".png", ".svg", ".pdf")
BAR = 3.5  # inches of the longest colour bar
NUMBERS_UP_TO = 120  # cells of a heat map that are annotated


def new_figure(width: float, height: float) -> Figure:
    """Return an empty matplotlib figure of this size in inches, at the resolution of all figures."""
    extra("matplotlib", "figures")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=150, layout="constrained")


def heat_map(
    axes: Any,
    matrix: Any,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    greatest: float | None = None,
    grey_rows: Sequence[bool] = (),
    grey_columns: Sequence[bool] = (),
    numbers: bool = True,
) -> Any:
    """Draw a matrix of values from 0 on with names of rows and columns, and return the image of matplotlib.

    Rows and columns marked grey have a grey name and a light cover, so that their values can still be read.

    Args:
        axes: The axes to draw on.
        matrix: The values (rows, columns).
        rows: The names of the rows.
        columns: The names of the columns.
        greatest: The value at the end of the colour scale; by default the largest of the matrix.
        grey_rows: Whether each row is grey; by default none is.
        grey_columns: Whether each column is grey; by default none is.
        numbers: Whether values are written into the cells, if there are not too many.

    Returns:
        The image of matplotlib.
    """
    values = np.asarray(matrix, dtype=float)
    top = greatest if greatest is not None else max(float(np.nanmax(values, initial=0.0)), 1e-12)
    image = axes.imshow(values, cmap=SEQUENTIAL, vmin=0, vmax=top, aspect="auto", interpolation="nearest")
    axes.set_xticks(range(len(columns)), columns, fontsize=SMALL, rotation=90 if _long(columns) else 0)
    axes.set_yticks(range(len(rows)), rows, fontsize=SMALL)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for place, grey in enumerate(grey_columns):
        if grey:
            axes.get_xticklabels()[place].set_color(INACTIVE)
            axes.axvspan(place - 0.5, place + 0.5, color="white", alpha=0.55, lw=0)
    for place, grey in enumerate(grey_rows):
        if grey:
            axes.get_yticklabels()[place].set_color(INACTIVE)
            axes.axhspan(place - 0.5, place + 0.5, color="white", alpha=0.55, lw=0)
    if numbers and values.size <= NUMBERS_UP_TO:
        _write_numbers(axes, values, top, grey_rows, grey_columns)
    return image


def add_colour_bar(figure: Figure, image: Any, axes: Any, label: str) -> None:
    """Add a colour bar with its label to the right of the axes."""
    bar = figure.colorbar(image, ax=axes, shrink=min(0.8, BAR / figure.get_figheight()), aspect=20, pad=0.02)
    bar.set_label(label, fontsize=TEXT)
    bar.ax.tick_params(labelsize=SMALL, length=2, width=0.6)
    bar.outline.set_linewidth(0.6)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, SVG or PDF. The same figure always gives the same bytes: no date, no random names."""
    extra("matplotlib", "figures")
    from matplotlib import rc_context

    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"cannot write {path}: expected a name that ends in {', '.join(FORMATS)}.")
    metadata: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with rc_context({"svg.hashsalt": "unweave", "pdf.fonttype": 42}):
            figure.savefig(path, metadata=metadata)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}.") from error


def _long(names: Sequence[str]) -> bool:
    return max((len(name) for name in names), default=0) > 3


def _write_numbers(axes: Any, values: Any, top: float, grey_rows: Sequence[bool], grey_columns: Sequence[bool]) -> None:
    for (row, column), value in np.ndenumerate(values):
        grey = (row < len(grey_rows) and grey_rows[row]) or (column < len(grey_columns) and grey_columns[column])
        if np.isnan(value):
            continue
        color = FADED if grey else "white" if value < 0.6 * top else "black"
        axes.text(column, row, f"{value:.2f}".lstrip("0") or "0", ha="center", va="center", fontsize=SMALL, color=color)
