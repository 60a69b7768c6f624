"""The common style of plots of studies: grids of panels, and one colour and marker per method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from unweave.errors import InputError, extra
from unweave.names import words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart by colour-blind readers; markers tell methods apart in grey print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
SMALL, TEXT = 7, 8  # points; nothing is smaller
PAGE, PAGE_HEIGHT = 7.0, 9.4  # inches of a printed page, to which figures are fitted so that texts keep their size
DPI = 150
SHRUNK = 0.7  # of the usual size, to which panels are made smaller so that a grid fits
Shared = Literal["all", "row", "col"]
LARGEST = 48.0  # inches


def panel_grid(
    rows: int,
    columns: int,
    *,
    size: tuple[float, float] = (1.9, 1.6),
    margin: tuple[float, float] = (0.9, 0.9),
    **share: Any,
) -> tuple[Figure, Any]:
    """Return a figure and its axes (rows, columns); ``size`` of a panel and ``margin`` are in inches.

    Panels of a grid that is a little wider than a printed page are made narrower.
    """
    extra("matplotlib", "figures")
    from matplotlib.figure import Figure

    if not rows or not columns:
        raise InputError("there is nothing to draw: the result has no rows.")
    width, height = (min(n * s + m, LARGEST) for n, s, m in zip((columns, rows), size, margin, strict=True))
    if SHRUNK * size[0] * columns + margin[0] <= PAGE:
        width = min(width, PAGE)
    figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **share)
    for panel in axes.flat:
        panel.tick_params(labelsize=SMALL, length=2, width=0.6)
        for side in panel.spines.values():
            side.set_linewidth(0.6)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    return figure, axes


def align(axes: Any, *, x: Shared | None = None, y: Shared | None = None) -> None:
    """Give panels the same limits: all of them, or those of each row or column; hide tick labels that repeat.

    For grids of many panels, this is much faster than axes that matplotlib shares, where every change of one panel
    visits all others. Call it when everything is drawn.
    """
    for direction, shared in (("x", x), ("y", y)):
        if shared is None:
            continue
        groups = {"all": [list(axes.flat)], "row": [list(row) for row in axes], "col": [list(row) for row in axes.T]}
        for group in groups[shared]:
            shown = [panel for panel in group if panel.axison]
            limits = [getattr(panel, f"get_{direction}lim")() for panel in shown if panel.has_data()]
            if limits:
                backwards = limits[0][0] > limits[0][1]
                ends = min(min(pair) for pair in limits), max(max(pair) for pair in limits)
                for panel in shown:
                    getattr(panel, f"set_{direction}lim")(ends[::-1] if backwards else ends)
    if x is not None and x != "row":
        for panel in axes[:-1].flat:
            panel.tick_params(labelbottom=False)
    if y is not None and y != "col":
        for panel in axes[:, 1:].flat:
            panel.tick_params(labelleft=False)


def style_methods(methods: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the colour and marker of each method; after eight methods, colours meet other markers."""
    names = list(dict.fromkeys(methods))
    return {
        name: {
            "color": COLOURS[place % len(COLOURS)],
            "marker": MARKERS[(place + place // len(COLOURS)) % len(MARKERS)],
        }
        for place, name in enumerate(names)
    }


def add_legend(
    figure: Figure,
    styles: dict[str, dict[str, Any]],
    *,
    label: str = "",
    as_words: bool = True,
    handlelength: float = 2.0,
    **look: Any,
) -> None:
    """Add one legend below the panels, with an entry per method, and above it the ``label`` of all x axes.

    Labels that somebody gave to runs are kept as they are if ``as_words`` is False.
    """
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [], [], label=words(name) if as_words else name, **{"linestyle": "none", "markersize": 4, **style, **look}
        )
        for name, style in styles.items()
    ]
    columns = min(len(handles), max(1, int(figure.get_size_inches()[0] / 1.3)))
    place: Any = "outside lower center"
    legend = figure.legend(
        handles=handles,
        loc=place,
        ncols=columns,
        fontsize=TEXT,
        frameon=False,
        title=label or None,
        handlelength=handlelength,
    )
    legend.get_title().set(fontsize=TEXT, multialignment="center")


def add_titles(axes: Any, rows: Sequence[str], columns: Sequence[str]) -> None:
    """Name the columns above the first row of panels, and the rows to the left of the first column."""
    for panel, name in zip(axes[0], columns, strict=True):
        panel.set_title(words(name, 20), fontsize=TEXT)
    for panel, name in zip(axes[:, 0], rows, strict=True):
        panel.set_ylabel(words(name, 20), fontsize=TEXT)
