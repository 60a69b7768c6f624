"""Strip plots of scores as small inline SVG: where one run, or several, lie among others."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from unweave.figures.drawing.panels import COLOURS
from unweave.reports.html.markup import Html, joined, tag
from unweave.reports.html.tables import shown

WIDTH, HEIGHT, EDGE = 250, 34, 7  # of a strip, in pixels
MANY = 300  # values; more are drawn as bars of equal width whose opacity is their number
BARS = 118
RUNS = tuple(colour for colour in COLOURS if colour != "#000000")  # colours of runs, visible on white and on black


def draw_strip(
    values: Sequence[float],
    others: Sequence[float],
    baselines: Sequence[float] = (),
    *,
    range_: str = "",
    alt: str = "",
) -> Html:
    """Return a strip: grey dots are other runs, rings are baselines, and large dots are ``values``, one per run.

    The axis spans the ``range_`` of the score if it is written as in "0 to 1" and holds all values, and otherwise the
    values themselves.
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
