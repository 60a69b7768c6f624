"""Figures inside a page: as SVG where they are small, as compressed pixels where they have many points or images."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any, Literal

from unweave.reports.html.markup import Html, tag

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Kind = Literal["plot", "map", "photo"]  # a plot is inverted in dark mode; heat maps and images are not
MOST_SVG = 250_000  # bytes; larger ones become pixels
MANY_POINTS, MANY_TEXTS, MANY_PANELS = 4_000, 400, 30  # figures with more are drawn as pixels at once
DPI = (220, 150, 110, 80)  # tried in this order until a picture is small enough
MOST = 600_000  # bytes of a picture
PLAIN, LARGE = 96, 1.35  # dots per inch of a page, and how much larger a figure is on a screen than in print
WIDE = 1120  # pixels of a page; wider figures scroll
UPRIGHT = 7.1  # inches of a printed page; wider figures are printed on a page of their own, in landscape format
DIVERGING = ("RdBu", "RdBu_r")
MANY = 24  # panels, from which constrained layout takes seconds
PAD = 6.0  # points between neighbours


def show_figure(figure: Figure, alt: str, *, most: int = MOST, caption: object = "") -> Html:
    """Return a figure as an HTML figure whose picture is part of the page.

    On a screen it is enlarged as far as the page is wide; one that is wider than the page scrolls. In print it has
    its own size, so that its texts have the size that they were drawn with.
    """
    kind = kind_of(figure)
    media, content = encode_figure(figure, kind, most)
    inches = float(figure.get_size_inches()[0])
    width = round(max(inches * PLAIN, min(inches * PLAIN * LARGE, WIDE)))
    address = f"data:{media};base64,{base64.b64encode(content).decode()}"
    image = tag("img", src=address, alt=alt, width=width, class_=kind, style=f"--inches:{inches:.2f}")
    if width > WIDE:
        image = tag("div", image, class_="wide", tabindex=0, role="region", aria_label="A wide figure; it scrolls")
    below = tag("figcaption", caption) if caption else ""
    return tag("figure", image, below, class_="landscape" if inches > UPRIGHT else None)


def kind_of(figure: Figure) -> Kind:
    """Return "photo" for a figure with images in colour, "map" for heat maps, and "plot" for all others.

    Heat maps of a diverging palette count as plots: white at 0 becomes black in dark mode.
    """
    images = [image for axes in figure.axes for image in axes.images]
    if any(image.get_array().ndim == 3 for image in images):  # type: ignore[union-attr]
        return "photo"
    return "map" if any(image.get_cmap().name not in DIVERGING for image in images) else "plot"


def encode_figure(figure: Figure, kind: Kind, most: int = MOST) -> tuple[str, bytes]:
    """Return the media type and the bytes of a figure: SVG, a palette PNG, or WebP for pictures of images."""
    settle(figure)
    if kind != "photo":
        for background in (figure.patch, *(axes.patch for axes in figure.axes)):
            background.set_alpha(0)  # the page shows through, light or dark
        if _is_small(figure):
            content = _vectors(figure)
            if len(content) <= min(most, MOST_SVG):
                return "image/svg+xml", content
    media, content = "", b""
    for dpi in DPI if figure.get_size_inches()[0] <= UPRIGHT else DPI[1:]:
        media, content = _pixels(figure, kind, dpi)
        if len(content) <= most:
            break
    return media, content


def _is_small(figure: Figure) -> bool:
    """Return whether a figure has few points, texts and panels, all of which make an SVG large."""
    axes: list[Any] = figure.axes
    points = sum(len(line.get_xydata()) for panel in axes for line in panel.lines)
    points += sum(len(each.get_offsets()) for panel in axes for each in panel.collections)
    return points <= MANY_POINTS and sum(len(panel.texts) for panel in axes) <= MANY_TEXTS and len(axes) <= MANY_PANELS


def _vectors(figure: Figure) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()


def _pixels(figure: Figure, kind: Kind, dpi: int) -> tuple[str, bytes]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    figure.set_dpi(dpi)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    picture = Image.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba().tobytes())
    stream = io.BytesIO()
    if kind == "photo":
        picture.convert("RGB").save(stream, "WEBP", quality=88, method=4)
        return "image/webp", stream.getvalue()
    picture.quantize(256, method=Image.Quantize.FASTOCTREE).save(stream, "PNG", optimize=True)
    return "image/png", stream.getvalue()


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
