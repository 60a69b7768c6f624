"""Grids of panels on a page of one width, placed by measuring their texts, and one colour and marker per method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from unweave.errors import InputError, extra
from unweave.figures.drawing.texts import Labels, text_height, text_width, wrapped
from unweave.names import method_of, words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart by colour-blind readers; markers tell methods apart in grey print.
BLUE, RED, GREEN, PINK, ORANGE, SKY, BLACK, GREY = COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
    "#999999",
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
OWN = {  # the colour of each method in every figure; methods of one paper have different ones
    **dict.fromkeys(("beta_vae", "ada_triplet_ae"), BLUE),
    **dict.fromkeys(("tripod", "jl1_vae", "ada_ml_vae", "info_vae"), RED),
    **dict.fromkeys(("factor_vae", "tripod_without_nhp", "ada_ae", "dfc_vae"), GREEN),
    **dict.fromkeys(("beta_tcvae", "ada_triplet_vae"), PINK),
    **dict.fromkeys(("annealed_vae", "ada_gvae", "tripod_naive", "control_vae"), ORANGE),
    **dict.fromkeys(("dip_vae_i", "qlae", "triplet_vae", "ica"), SKY),
    **dict.fromkeys(("vae", "dip_vae_ii", "tripod_finer", "triplet_ae"), BLACK),
    **dict.fromkeys(("ae", "jl2_vae", "tripod_without_klm", "pca"), GREY),
}
SMALL, TEXT = 7, 8  # points; nothing is smaller
PAGE, PAGE_HEIGHT = 7.0, 9.4  # inches of a printed page; every figure is as wide, so that texts keep their size
DPI = 150
SHRUNK = 0.7  # of the usual size, to which panels are made smaller so that a grid fits
ACROSS = 4  # panels beside one another; more continue below
MARGIN, PAD = 0.08, 0.1  # inches around the figure, and between panels
TICK = 0.06  # inches between the labels of two ticks
SCALE = 0.36  # inches of a colour scale with its label
NARROWEST = 0.3  # inches of a panel, whatever its labels take
Shared = Literal["all", "row", "col"]


def panel_grid(rows: int, columns: int, **share: Any) -> tuple[Figure, Any]:
    """Return a figure as wide as a page and its axes (rows, columns); :func:`lay_out` gives them their places."""
    extra("matplotlib", "figures")
    from matplotlib.figure import Figure

    if not rows or not columns:
        raise InputError("there is nothing to draw: the result has no rows.")
    figure = Figure(figsize=(PAGE, 2.0 * rows), dpi=DPI)
    axes = figure.subplots(rows, columns, squeeze=False, **share)
    for panel in axes.flat:
        panel.tick_params(labelsize=SMALL, length=2, width=0.6, pad=2)
        for side in panel.spines.values():
            side.set_linewidth(0.6)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    return figure, axes


class Panels:
    """Panels of a table, one for each row and column; columns that do not fit beside one another continue below.

    ``figure`` and ``axes`` are those of matplotlib, ``panels[row, column]`` the panel of two names.
    """

    def __init__(self, rows: Sequence[str], columns: Sequence[str], *, most: int = ACROSS) -> None:
        self.rows, self.columns = [str(name) for name in rows], [str(name) for name in columns]
        if not self.rows or not self.columns:
            raise InputError("there is nothing to draw: the result has no rows.")
        lines = -(-len(self.columns) // most)
        self.across = -(-len(self.columns) // lines)
        self.figure, self.axes = panel_grid(lines * len(self.rows), self.across)
        self._panels: dict[tuple[str, str], Any] = {}
        for place, column in enumerate(self.columns):
            line, x = divmod(place, self.across)
            for y, row in enumerate(self.rows):
                self._panels[row, column] = self.axes[line * len(self.rows) + y, x]
        for panel in self.axes.flat[:]:
            if panel not in self._panels.values():
                panel.set_axis_off()

    def __getitem__(self, place: tuple[object, object]) -> Any:
        return self._panels[str(place[0]), str(place[1])]

    def align(self, *, x: Shared | None = None, y: Shared | None = None) -> None:
        """Give panels the same limits: all, or those of each row or column; hide tick labels that repeat.

        For grids of many panels, this is much faster than axes that matplotlib shares, where every change of one panel
        visits all others. Call it when everything is drawn.
        """
        for direction, shared in (("x", x), ("y", y)):
            groups: dict[str, list[Any]] = {}
            for (row, column), panel in self._panels.items():
                groups.setdefault({"all": "", "row": row, "col": column}.get(shared or "", ""), []).append(panel)
            for group in groups.values() if shared else ():
                _same_limits([panel for panel in group if panel.axison], direction)
        for (row, column), panel in self._panels.items():
            if x in ("all", "col") and row != self.rows[-1]:
                panel.tick_params(labelbottom=False)
            if y in ("all", "row") and self.columns.index(column) % self.across:
                panel.tick_params(labelleft=False)

    def name(self) -> None:
        """Name columns above their first panel, and rows to the left of the first panel, if there are several."""
        for column in self.columns:
            self[self.rows[0], column].set_title(words(column), fontsize=TEXT)
        for row in self.rows if len(self.rows) > 1 else ():
            for column in self.columns[:: self.across]:
                self[row, column].set_ylabel(words(row), fontsize=TEXT)


def _same_limits(panels: Sequence[Any], direction: str) -> None:
    limits = [getattr(panel, f"get_{direction}lim")() for panel in panels if panel.has_data()]
    if limits:
        backwards = limits[0][0] > limits[0][1]
        ends = min(min(pair) for pair in limits), max(max(pair) for pair in limits)
        for panel in panels:
            getattr(panel, f"set_{direction}lim")(ends[::-1] if backwards else ends)


def style_methods(methods: Iterable[str], recipes: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """Return the colour and marker of each method: a recipe has its own colour in every figure.

    The recipe of a method is its own name without what follows it, such as "beta_vae (kl 2)", or is given by
    ``recipes``. Other names, and recipes whose colour a method before them has, take the next free colour.
    """
    names = list(dict.fromkeys(methods))
    wanted = {name: OWN.get((recipes or {}).get(name) or method_of(name)) for name in names}
    taken: dict[str, str] = {}
    for name in names:
        if (colour := wanted[name]) is not None and colour not in taken.values():
            taken[name] = colour
    for place, name in enumerate(names):
        if name not in taken:
            free = [colour for colour in COLOURS if colour not in taken.values()]
            taken[name] = free[0] if free else COLOURS[place % len(COLOURS)]
    return {
        name: {"color": taken[name], "marker": MARKERS[(place + place // len(COLOURS)) % len(MARKERS)]}
        for place, name in enumerate(names)
    }


def lay_out(
    figure: Figure,
    axes: Any,
    *,
    height: float,
    title: str = "",
    label: str = "",
    side: str = "",
    legend: Mapping[str, Mapping[str, Any]] | None = None,
    as_words: bool = True,
    caption: str = "",
    labels: Labels | None = None,
    scale: tuple[Any, str] | None = None,
    width: float = PAGE,
    **look: Any,
) -> Figure:
    """Place panels below a title and above a legend, so that no text is cut or meets another; return the figure.

    Titles and labels of panels are wrapped to the size of the panel, and ticks are thinned out until their labels
    fit; names that stand upright below a panel are laid flat where they have room. The height of the figure follows
    from what it contains. Call it when everything is drawn.

    Args:
        figure: The figure of :func:`panel_grid`.
        axes: Its axes (rows, columns).
        height: The height of each panel in inches.
        title: The title of the figure.
        label: The label of all x axes.
        side: The label of all y axes.
        legend: The style of each entry of a legend.
        as_words: Whether entries are names that are printed as words; labels that somebody gave to runs are not.
        caption: A text below everything.
        labels: The labels that were shortened, whose full texts are added to the caption.
        scale: An image of matplotlib and the label of its colour scale.
        width: The largest width of a panel in inches.
        **look: The look of all entries of the legend.

    Returns:
        The same figure.
    """
    labels = Labels() if labels is None else labels
    renderer = _renderer(figure)
    rows, columns = axes.shape
    shown = [(place, panel) for place, panel in _numbered(axes) if panel.axison]
    texts = {panel: (panel.get_title(), panel.get_xlabel(), panel.get_ylabel()) for _, panel in shown}
    upright = [panel for _, panel in shown if any(label.get_rotation() == 90 for label in panel.get_xticklabels())]
    inner = PAGE - 2 * MARGIN
    beside = text_height(1, TEXT) + 0.04 if side else 0.0
    across = min(width, (inner - beside) / columns - 0.3)
    left, right, top, bottom = [0.0] * columns, [0.0] * columns, [0.0] * rows, [0.0] * rows
    for last in (False, True):
        left, right, top, bottom = [0.0] * columns, [0.0] * columns, [0.0] * rows, [0.0] * rows
        tall = figure.get_figheight()
        for (row, column), panel in shown:
            panel.set_position((0.2, 0.2, across / PAGE, height / tall))
            _fit_texts(panel, texts[panel], across, height, labels if last else Labels())
            if panel in upright:
                _turn_names(panel, across)
            box = panel.get_tightbbox(renderer, for_layout_only=True)
            own, dpi = panel.get_window_extent(renderer), figure.dpi
            left[column] = max(left[column], (own.x0 - box.x0) / dpi)
            right[column] = max(right[column], (box.x1 - own.x1) / dpi)
            bottom[row] = max(bottom[row], (own.y0 - box.y0) / dpi)
            top[row] = max(top[row], (box.y1 - own.y1) / dpi)
        free = inner - beside - sum(left) - sum(right) - PAD * (columns - 1)
        across = max(NARROWEST, min(width, free / columns))
    heading = wrapped(title, inner, TEXT + 1) if title else []
    key = _legend(figure, legend, as_words, look) if legend else None
    below = wrapped(label, inner, TEXT) if label else []
    lines = [line for text in (caption, labels.caption) if text for line in wrapped(text, inner, SMALL)]
    parts = [
        text_height(len(below), TEXT) + 0.05 if below else 0.0,
        SCALE if scale else 0.0,
        key.get_window_extent(renderer).height / figure.dpi + 0.05 if key else 0.0,
        text_height(len(lines), SMALL) + 0.06 if lines else 0.0,
    ]
    head = MARGIN + (text_height(len(heading), TEXT + 1) + 0.06 if heading else 0.0)
    used = sum(top) + sum(bottom) + rows * height + PAD * (rows - 1)
    total = head + used + sum(parts) + MARGIN
    figure.set_size_inches(PAGE, total)
    spare = max(0.0, free - columns * across) / 2  # panels of a given width stand in the middle
    for (row, column), panel in shown:
        x = MARGIN + beside + spare + sum(left[: column + 1]) + sum(right[:column]) + column * (across + PAD)
        y = head + sum(top[: row + 1]) + sum(bottom[:row]) + row * (height + PAD) + height
        panel.set_position((x / PAGE, 1 - y / total, across / PAGE, height / total))
    for _, panel in _numbered(axes):
        if not panel.axison:
            panel.set_position((0, 0, 0.01, 0.01))
    if heading:
        look_of = {"ha": "left", "va": "top", "fontsize": TEXT + 1, "linespacing": 1.15}
        figure.suptitle("\n".join(heading), x=MARGIN / PAGE, y=1 - MARGIN / total, **look_of)
    if side:
        middle = 1 - (head + used / 2) / total
        written = labels.fit(side, used, TEXT)
        figure.supylabel(written, x=MARGIN / PAGE, y=middle, ha="left", va="center", fontsize=TEXT)
    y = MARGIN + sum(parts[1:])
    if below:
        figure.supxlabel("\n".join(below), x=0.5, y=y / total, va="bottom", fontsize=TEXT)
    y -= parts[1]
    if scale:
        add_scale(figure, scale[0], (0.3, (y + 0.22) / total, 0.4, 0.07 / total), scale[1])
    y -= parts[2]
    if key:
        key.set_bbox_to_anchor((0.5, y / total))
    if lines:
        figure.text(MARGIN / PAGE, MARGIN / total, "\n".join(lines), fontsize=SMALL, va="bottom", linespacing=1.2)
    return figure


def add_scale(figure: Figure, image: Any, place: tuple[float, float, float, float], label: str) -> None:
    """Add a horizontal colour scale at ``place`` (left, bottom, width and height, in fractions of the figure).

    Args:
        figure: The figure that it is added to.
        image: The drawn image whose colours it explains; its ends are the limits of the image's norm.
        place: The rectangle, as for ``Figure.add_axes``.
        label: The name of the quantity: between the numbers if it fits there, else below them.
    """
    ends = (image.norm.vmin, image.norm.vmax)
    bar = figure.colorbar(image, cax=figure.add_axes(place), orientation="horizontal", ticks=ends)
    bar.ax.set_xticklabels([compact(round(end, 2)) for end in ends], fontsize=SMALL)
    between = place[2] * PAGE - 2 * text_width("0.25", SMALL)
    beside = text_width(label, SMALL) <= between  # the label fits between the numbers, otherwise it stands below them
    bar.set_label(label, fontsize=SMALL, ha="center" if beside else "right")
    bar.ax.xaxis.set_label_coords(0.5 if beside else 1.0, -0.9 if beside else -2.5)
    bar.ax.tick_params(length=0, pad=2)
    bar.outline.set_linewidth(0.4)


def compact(value: float, _: object = None) -> str:
    """Return a number as the label of a tick: no zeros at its end, a true minus sign, and thousands as "k".

    >>> compact(0.25), compact(-2.0), compact(20000.0), compact(2.5e-7)
    ('0.25', '−2', '20k', '2.5e−7')
    """
    if abs(value) < 1e-12:
        return "0"
    if 10_000 <= abs(value) < 10_000_000:
        return f"{value / 1000:g}k".replace("-", "−")
    text = f"{value:.5g}"
    if "e" in text:
        digits, power = text.split("e")
        text = f"{digits}e{int(power)}"
    return text.replace("-", "−")


def _numbered(axes: Any) -> list[tuple[tuple[int, int], Any]]:
    return [((row, column), panel) for row, line in enumerate(axes) for column, panel in enumerate(line)]


def _renderer(figure: Figure) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    return canvas.get_renderer()


def _fit_texts(panel: Any, texts: tuple[str, str, str], width: float, height: float, labels: Labels) -> None:
    title, below, beside = texts
    if title:
        panel.set_title(labels.fit(title, width + PAD / 2, TEXT, 3), fontsize=TEXT, pad=4)
    if below:
        panel.set_xlabel(labels.fit(below, width, TEXT, 2), fontsize=TEXT, labelpad=2)
    if beside:
        panel.set_ylabel(labels.fit(beside, height, TEXT, 2), fontsize=TEXT, labelpad=3)
    _fit_ticks(panel.xaxis, width, upright=False)
    _fit_ticks(panel.yaxis, height, upright=True)


def _turn_names(panel: Any, width: float) -> None:
    """Write names below a panel from left to right if they have room beside each other, otherwise upright."""
    named = [label.get_position()[0] for label in panel.get_xticklabels() if label.get_text()]
    flat = _apart(panel.xaxis, named, width, upright=False)
    panel.tick_params(axis="x", labelrotation=0 if flat else 90)


def _fit_ticks(axis: Any, inches: float, *, upright: bool) -> None:
    """Write numbers in their shortest form, and leave out ticks until their labels do not meet."""
    from matplotlib.ticker import AutoLocator, FixedLocator, LogFormatter, MaxNLocator, NullFormatter, ScalarFormatter

    format_of: Any = axis.get_major_formatter()
    if not isinstance(format_of, ScalarFormatter | LogFormatter) and getattr(format_of, "func", None) is not compact:
        return  # names
    axis.set_major_formatter(compact)
    axis.set_minor_formatter(NullFormatter())
    if type(axis.get_major_locator()) in (AutoLocator, MaxNLocator):
        for most in (5, 4, 3, 2):
            axis.set_major_locator(MaxNLocator(most, steps=(1, 2, 2.5, 5, 10)))
            if _apart(axis, _ticks(axis), inches, upright):
                return
    ticks = _ticks(axis)
    for step in range(1, len(ticks) + 1):
        if _apart(axis, ticks[::step], inches, upright):
            if step > 1:
                axis.set_major_locator(FixedLocator(ticks[::step]))
            return


def _ticks(axis: Any) -> list[float]:
    low, high = sorted(axis.get_view_interval())
    spare = 1e-9 * (high - low)
    return [float(tick) for tick in axis.get_majorticklocs() if low - spare <= tick <= high + spare]


def _apart(axis: Any, ticks: Sequence[float], inches: float, upright: bool) -> bool:
    """Return whether the labels of ticks do not meet, on an axis of so many inches."""
    change = axis.get_transform().transform
    low, high = change([*axis.get_view_interval()])
    places = [abs(float(place) - low) / max(abs(high - low), 1e-300) * inches for place in change(ticks)]
    format_of = axis.get_major_formatter()
    sizes = [text_height(1, SMALL) if upright else text_width(str(format_of(tick, 0)), SMALL) for tick in ticks]
    spare = 0.0 if upright else TICK
    both = list(zip(places, sizes, strict=True))
    return all(abs(b - a) >= (one + other) / 2 + spare for (a, one), (b, other) in pairwise(both))


def _legend(figure: Figure, styles: Mapping[str, Mapping[str, Any]], as_words: bool, look: dict[str, Any]) -> Any:
    """Add a legend with as many columns as fit, in rows of equal length; entries wider than the page are wrapped."""
    from matplotlib.lines import Line2D

    length = look.pop("handlelength", 2.0)
    handle = (length + 0.8) * TEXT / 72
    inner = PAGE - 2 * MARGIN
    names = [words(name) if as_words else " ".join(name.split()) for name in styles]
    written = ["\n".join(wrapped(name, inner - handle - 0.2, TEXT)) for name in names]
    longest = max(text_width(line, TEXT) for name in written for line in name.split("\n"))
    columns = max(1, min(len(written), int((inner + 0.15) / (longest + handle + 0.15))))
    columns = -(-len(written) // -(-len(written) // columns))  # as many in each row, so that none stands alone
    handles = [
        Line2D([], [], label=name, **{"linestyle": "none", "markersize": 4, **style, **look})
        for name, style in zip(written, styles.values(), strict=True)
    ]
    shape: dict[str, Any] = {"handlelength": length, "borderaxespad": 0, "borderpad": 0.2, "columnspacing": 1.2}
    return figure.legend(
        handles=handles,
        loc="lower center",
        bbox_to_anchor=(0.5, 0),
        ncols=columns,
        fontsize=TEXT,
        frameon=False,
        **shape,
    )
