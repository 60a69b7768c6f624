"""Figures inside a page: as SVG or compressed pixels, strip plots of scores, and the figures of runs by topic."""

from __future__ import annotations

import base64
import io
import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from unweave.data import FactorData
from unweave.errors import InputError, MissingExtra, Unavailable
from unweave.figures.catalogue import FIGURES
from unweave.figures.drawing.panels import COLOURS
from unweave.figures.figure import Figure
from unweave.names import words
from unweave.reports.facts import Facts
from unweave.reports.html import Html, Section, joined, shown, tag
from unweave.representation import Representation
from unweave.streams import stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

Kind = Literal["plot", "map", "photo"]  # a plot is inverted in dark mode; heat maps and images are not
MOST_SVG = 250_000  # bytes; larger ones become pixels
MANY_POINTS, MANY_TEXTS, MANY_PANELS = 4_000, 400, 30  # figures with more are drawn as pixels at once
DPI = (220, 150, 110, 80)  # tried in this order until a picture is small enough
MOST = 600_000  # bytes of a picture
PLAIN, LARGE = 96, 1.35  # dots per inch of a page, and how much larger a figure is on a screen than in print
WIDE = 1120  # pixels of a page; wider figures scroll
UPRIGHT = 7.1  # inches of a printed page; wider figures are printed on a page of their own, in landscape format
DIVERGING = ("RdBu", "RdBu_r")
WIDTH, HEIGHT, EDGE = 250, 34, 7  # of a strip, in pixels
MANY = 300  # values; more are drawn as bars of equal width whose opacity is their number
BARS = 118
RUNS = tuple(colour for colour in COLOURS if colour != "#000000")  # colours of runs, visible on white and on black
BYTES = 3_300_000  # of all pictures; a page stores them in base64, which takes a third more
MOST_RUNS = 6  # beyond, figures of single runs are left out

Watch = Callable[[str], None]


def show_figure(figure: Drawn, alt: str, *, most: int = MOST, caption: object = "") -> Html:
    """Return a figure as an HTML figure whose picture is part of the page.

    On a screen it is enlarged as far as the page is wide; one that is wider than the page scrolls. In print it has
    its own size, so that its texts have the size that they were drawn with.

    Args:
        figure: The figure of matplotlib.
        alt: A text for those who do not see it.
        most: The bytes that the picture may have.
        caption: What stands below it.

    Returns:
        The figure with its picture.
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


def kind_of(figure: Drawn) -> Kind:
    """Return "photo" for a figure with images in colour, "map" for heat maps, and "plot" for all others.

    Heat maps of a diverging palette count as plots: white at 0 becomes black in dark mode.
    """
    images = [image for axes in figure.axes for image in axes.images]
    if any(image.get_array().ndim == 3 for image in images):  # type: ignore[union-attr]
        return "photo"
    return "map" if any(image.get_cmap().name not in DIVERGING for image in images) else "plot"


def encode_figure(figure: Drawn, kind: Kind, most: int = MOST) -> tuple[str, bytes]:
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


def _is_small(figure: Drawn) -> bool:
    """Return whether a figure has few points, texts and panels, all of which make an SVG large."""
    axes: list[Any] = figure.axes
    points = sum(len(line.get_xydata()) for panel in axes for line in panel.lines)
    points += sum(len(each.get_offsets()) for panel in axes for each in panel.collections)
    return points <= MANY_POINTS and sum(len(panel.texts) for panel in axes) <= MANY_TEXTS and len(axes) <= MANY_PANELS


def _vectors(figure: Drawn) -> bytes:
    from matplotlib import rc_context

    stream = io.BytesIO()
    with rc_context({"svg.fonttype": "none"}):  # texts that can be found and copied
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()


def _pixels(figure: Drawn, kind: Kind, dpi: int) -> tuple[str, bytes]:
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


def draw_strip(
    values: Sequence[float],
    others: Sequence[float],
    baselines: Sequence[float] = (),
    *,
    range_: str = "",
    alt: str = "",
) -> Html:
    """Return a strip plot of a score.

    Args:
        values: The scores of the runs of the report, large dots.
        others: Those of other runs, grey dots.
        baselines: Those of stored results, rings.
        range_: The range of the score; the axis spans it if it is written as in "0 to 1" and holds all values, and
            otherwise the values themselves.
        alt: A text for those who do not see it.

    Returns:
        The strip as SVG; nothing without finite values.
    """
    everything = [value for value in (*values, *others, *baselines) if math.isfinite(value)]
    if not everything:
        return Html("")
    low, high = _limits(range_, everything)
    span = high - low or 1.0

    def x(value: float) -> float:
        return round(EDGE + (WIDTH - 2 * EDGE) * (value - low) / span, 1)

    middle = HEIGHT / 2 - 5
    parts = [
        tag("title", alt or "Where the score lies"),
        tag("line", x1=EDGE, x2=WIDTH - EDGE, y1=middle, y2=middle, class_="axis"),
        joined(_dots([x(value) for value in others], middle)),
        joined(tag("circle", cx=x(value), cy=middle, r=3.5, class_="baseline") for value in baselines[:MANY]),
        joined(
            tag("circle", cx=x(value), cy=middle, r=5, class_="this", style=f"fill:{colour_of(place, len(values))}")
            for place, value in enumerate(values)
            if math.isfinite(value)
        ),
        tag("text", shown(low), x=EDGE, y=HEIGHT - 1),
        tag("text", shown(high), x=WIDTH - EDGE, y=HEIGHT - 1, text_anchor="end"),
    ]
    return tag("svg", joined(parts), viewBox=f"0 0 {WIDTH} {HEIGHT}", width=WIDTH, height=HEIGHT, role="img")


def colour_of(place: int, count: int) -> str:
    """Return the colour of one of several runs; a single run has the colour of the page for emphasis."""
    return "var(--mark)" if count == 1 else RUNS[place % len(RUNS)]


def _limits(range_: str, values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    if match := re.match(r"(-?\d+) to (-?\d+)(?!\S)", range_.replace("−", "-").replace(",", " ")):
        first, last = float(match[1]), float(match[2])
        if first <= low and high <= last:
            return first, last
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _dots(places: Sequence[float], middle: float) -> list[Html]:
    if len(places) <= MANY:
        return [tag("circle", cx=place, cy=middle, r=2.5, class_="peer", opacity=0.45) for place in places]
    wide = (WIDTH - 2 * EDGE) / BARS
    counts = [0] * BARS
    for place in places:
        counts[min(int((place - EDGE) / wide), BARS - 1)] += 1
    return [
        tag(
            "rect",
            x=round(EDGE + wide * number, 1),
            y=middle - 5,
            width=round(wide, 2),
            height=10,
            class_="peer",
            opacity=round(0.12 + 0.7 * math.sqrt(count / max(counts)), 2),
        )
        for number, count in enumerate(counts)
        if count
    ]


class Budget:
    """Bytes that remain for the pictures of a page, shared equally by those that are still to come."""

    def __init__(self, pictures: int, total: int = BYTES) -> None:
        self.left, self.pictures = total, max(pictures, 1)

    def show(self, drawn: Drawn, alt: str, caption: object = "") -> Html:
        """Return a picture within its share of what remains."""
        shown = show_figure(drawn, alt, most=self.left // self.pictures, caption=caption)
        self.pictures = max(self.pictures - 1, 1)
        self.left -= len(shown) * 3 // 4
        return shown


def show_figures(several: Sequence[Facts], watch: Watch | None = None) -> list[Section]:
    """Return one section per topic with every figure that applies to the runs.

    Figures that compare runs show all of them; others are drawn for each run and stand side by side. Runs whose
    weights or data cannot be opened have no figures.
    """
    opened = [(facts, facts.run, facts.data) for facts in several if facts.run is not None and facts.data is not None]
    if not opened:
        return []
    known = [figure for figure in FIGURES.values() if figure.source in ("run", "runs")]
    topics = dict.fromkeys(figure.topic for figure in known)
    figures = [figure for topic in topics for figure in known if figure.topic == topic]
    alone = len(opened) if len(opened) <= MOST_RUNS else 0
    budget = Budget(sum(1 if figure.source == "runs" else alone for figure in figures))
    shown: dict[str, list[Html]] = {topic: [] for topic in topics}
    for figure in figures:
        if watch is not None:
            watch(words(figure.name))
        if (content := _shown(figure, opened, budget)) is not None:
            shown[figure.topic].append(content)
    return [Section(topic, joined(parts)) for topic, parts in shown.items() if parts]


def _shown(figure: Figure, opened: Sequence[tuple[Facts, Representation, FactorData]], budget: Budget) -> Html | None:
    """Return a figure with its heading, or None if it applies to none of the runs."""
    usable = [(facts, run, data) for facts, run, data in opened if figure.refusal(run, data) is None]
    if not usable or (figure.source == "run" and len(opened) > MOST_RUNS):
        return None
    if figure.skips:
        usable = list(opened)
    title = words(figure.name)
    parts: list[Html] = [tag("h3", title[0].upper() + title[1:])]
    together = [usable] if figure.source == "runs" else [[each] for each in usable]
    pictures = []
    for group in together:
        names = ", ".join(facts.label for facts, _, _ in group)
        content = _drawn(figure, [run for _, run, _ in group], [data for _, _, data in group], names, budget)
        heading = tag("h4", group[0][0].label) if len(together) > 1 else ""
        pictures.append(tag("div", heading, content))
    parts.append(tag("div", joined(pictures), class_="beside") if len(pictures) > 1 else joined(pictures))
    return joined(parts)


def _drawn(
    figure: Figure, runs: Sequence[Representation], data: Sequence[FactorData], names: str, budget: Budget
) -> Html:
    try:
        result = figure.of_runs(runs, data, stream(runs[0].seed, "pictures"))
        drawn = figure.draw(result)
    except (InputError, Unavailable, MissingExtra) as error:
        return tag("p", f"Left out: {error}", class_="note")
    about = figure.about.partition(";")[0].rstrip(".") + "."  # what follows is about the command line
    return budget.show(drawn, f"{about} Shown for {names}.", about)
