"""Figures inside a page: as SVG where they are small, as compressed pixels where they have many points or images."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any, Literal

from unweave.reports.html.markup import Html, tag

if TYPE_CHECKING:
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
    from matplotlib import rc_context

    stream = io.BytesIO()
    with rc_context({"svg.fonttype": "none"}):  # texts that can be found and copied
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
