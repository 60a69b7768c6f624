"""The layout of a figure, computed once: constrained layout for a few panels, and a faster one for large grids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MANY = 24  # panels, from which constrained layout takes seconds
PAD = 6.0  # points between neighbours


def settle(figure: Figure) -> None:
    """Place the panels of a figure; otherwise every later drawing computes the constrained layout again."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    engine = figure.get_layout_engine()
    if engine is None:
        return
    FigureCanvasAgg(figure)
    grids = {id(axes.get_gridspec()) for axes in figure.axes}
    if len(figure.axes) > MANY and len(grids) == 1 and figure.axes[0].get_gridspec() is not None:
        figure.set_layout_engine(None)
        _place(figure)
    else:
        engine.execute(figure)
        figure.set_layout_engine(None)


def _place(figure: Figure) -> None:
    """Place a grid of panels of equal size, with room for the labels of its first column and outer rows.

    Constrained layout measures every panel twice. Here the panels at the edges are measured once and stand for the
    others, which is right where panels of a column have labels of about the same width.
    """
    grid: Any = figure.axes[0].get_gridspec()
    rows, columns = grid.nrows, grid.ncols
    places = {}
    for axes in figure.axes:
        spec: Any = axes.get_subplotspec()
        places[spec.rowspan.start, spec.colspan.start] = axes
    renderer: Any = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    left, right, bottom, top = [0.0] * columns, [0.0] * columns, [0.0] * rows, [0.0] * rows
    for (row, column), axes in places.items():
        if axes.axison and (column == 0 or row in (0, rows - 1)):
            west, east, south, north = _overhang(axes, renderer)
            left[column], right[column] = max(left[column], west), max(right[column], east)
            bottom[row], top[row] = max(bottom[row], south), max(top[row], north)
    pad = PAD * figure.dpi / 72
    beside, below, above = _around(figure, renderer)
    total_width, total_height = figure.bbox.width, figure.bbox.height
    width = (total_width - beside - sum(left) - sum(right) - pad * (columns + 1)) / columns
    height = (total_height - below - above - sum(bottom) - sum(top) - pad * (rows + 1)) / rows
    for (row, column), axes in places.items():
        x = beside + pad + sum(left[: column + 1]) + sum(right[:column]) + column * (width + pad)
        y = total_height - above - pad - sum(top[: row + 1]) - sum(bottom[:row]) - row * (height + pad) - height
        axes.set_position((x / total_width, y / total_height, width / total_width, height / total_height))


def _overhang(axes: Axes, renderer: Any) -> tuple[float, float, float, float]:
    """Return how many pixels of labels and titles there are to the left and right of a panel, below and above it."""
    box, inner = axes.get_tightbbox(renderer, for_layout_only=True), axes.bbox
    if box is None:
        return 0.0, 0.0, 0.0, 0.0
    return inner.x0 - box.x0, box.x1 - inner.x1, inner.y0 - box.y0, box.y1 - inner.y1


def _around(figure: Figure, renderer: Any) -> tuple[float, float, float]:
    """Return the pixels that labels and legends of the whole figure take: to the left, below and above."""

    def size(artist: Any) -> Any:
        return artist.get_window_extent(renderer)

    beside = max((size(text).width for text in [figure._supylabel] if text is not None), default=0.0)  # type: ignore[attr-defined]
    below = sum(size(part).height for part in [figure._supxlabel, *figure.legends] if part is not None)  # type: ignore[attr-defined]
    above = max((size(text).height for text in [figure._suptitle] if text is not None), default=0.0)  # type: ignore[attr-defined]
    return 1.8 * beside, below, 1.8 * above
