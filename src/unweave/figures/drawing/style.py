"""The shared style of all figures: palettes, heat maps, and files that do not change from one writing to the next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.errors import InputError, extra
from unweave.figures.drawing.panels import DPI, PAGE, SMALL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEQUENTIAL = "viridis"  # perceptually uniform, also in grey print; of distances
SHARES = "Blues"  # white at 0, so that what is there stands out; of information and importance
DIVERGING = "RdBu_r"  # blue below 0, white at 0, red above; safe for colour-blind readers
INACTIVE = "#8a8a8a"  # names and numbers of latents that do not depend on the image
COVER = "#f4f4f4"  # their cells, paler than those of any other latent
FORMATS = (".png", ".svg", ".pdf")
NUMBERS_UP_TO = 400  # cells of a heat map that are annotated


def new_page(height: float, width: float = PAGE) -> Figure:
    """Return an empty matplotlib figure of this size in inches, as wide as a page by default."""
    extra("matplotlib", "figures")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=DPI)


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
    upright: bool | None = None,
) -> Any:
    """Draw a matrix of values from 0 on with names of rows and columns, and return the image of matplotlib.

    Rows and columns marked grey have a grey name, grey numbers and no colour, so that they do not stand out.

    Args:
        axes: The axes to draw on.
        matrix: The values (rows, columns).
        rows: The names of the rows.
        columns: The names of the columns.
        greatest: The value at the end of the colour scale; by default the largest of the matrix.
        grey_rows: Whether each row is grey; by default none is.
        grey_columns: Whether each column is grey; by default none is.
        numbers: Whether values are written into the cells, if there are not too many.
        upright: Whether the names of columns stand upright; by default if one of them is long.

    Returns:
        The image of matplotlib.
    """
    values = np.asarray(matrix, dtype=float)
    top = greatest if greatest is not None else max(float(np.nanmax(values, initial=0.0)), 1e-12)
    image = axes.imshow(values, cmap=SHARES, vmin=0, vmax=top, aspect="auto", interpolation="nearest")
    axes.set_xticks(
        range(len(columns)),
        columns,
        fontsize=SMALL,
        rotation=90 if upright or (upright is None and _long(columns)) else 0,
    )
    axes.set_yticks(range(len(rows)), rows, fontsize=SMALL)
    axes.tick_params(length=0)
    axes.spines[:].set_linewidth(0.4)
    axes.spines[:].set_color("#b0b0b0")
    for names, marked, cover in (
        (axes.get_xticklabels(), grey_columns, axes.axvspan),
        (axes.get_yticklabels(), grey_rows, axes.axhspan),
    ):
        for place, grey in enumerate(marked):
            if grey:
                names[place].set_color(INACTIVE)
                cover(place - 0.5, place + 0.5, color=COVER, lw=0)
    if numbers and values.size <= NUMBERS_UP_TO:
        _write_numbers(axes, values, top, grey_rows, grey_columns)
    return image


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, SVG or PDF. The same figure always gives the same bytes: no date, no random names.

    Examples:
        >>> from pathlib import Path
        >>> import unweave
        >>> from unweave.figures import save_figure
        >>> drawn = unweave.figure("reconstructions", unweave.open("zoo:ada-gvae-xysquares"))
        >>> save_figure(drawn, Path("reconstructions.svg"))
    """
    extra("matplotlib", "figures")
    from matplotlib import rc_context

    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"cannot write {path}: expected a name that ends in {', '.join(FORMATS)}.")
    metadata: dict[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with rc_context({"svg.hashsalt": "unweave", "svg.fonttype": "none", "pdf.fonttype": 42}):
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
        faint = grey or value < 0.05 * top
        color = INACTIVE if faint else "white" if value > 0.6 * top else "black"
        axes.text(column, row, f"{value:.2f}".lstrip("0") or "0", ha="center", va="center", fontsize=SMALL, color=color)
