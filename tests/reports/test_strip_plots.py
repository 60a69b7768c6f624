from __future__ import annotations

import math

import pytest

from tests.reports.reading import Page
from unweave.reports.html.strip_plots import BARS, EDGE, HEIGHT, WIDTH, draw_strip


def centres(strip: str, kind: str) -> list[float]:
    return [float(dot["cx"] or 0) for dot in Page(strip).all("circle") if dot["class"] == kind]


def test_dots_lie_where_the_scores_are_on_the_range_of_the_metric() -> None:
    strip = draw_strip([0.5], [0.0, 1.0, 0.25], [0.75], range_="0 to 1, 1 / factors is chance", alt="<b>")
    inner = WIDTH - 2 * EDGE
    assert centres(strip, "peer") == pytest.approx([EDGE, WIDTH - EDGE, EDGE + inner / 4], abs=0.05)
    assert centres(strip, "this") == pytest.approx([WIDTH / 2], abs=0.05)
    assert centres(strip, "baseline") == pytest.approx([EDGE + 0.75 * inner], abs=0.05)
    page = Page(strip)
    assert "<b>" in page.words
    assert page.words[-2:] == ["0", "1"]
    assert f"0 0 {WIDTH} {HEIGHT}" in strip


def test_without_a_range_the_axis_spans_the_values() -> None:
    strip = draw_strip([12.0], [10.0, 14.0], range_="0 to ∞, dB")
    assert Page(strip).words[-2:] == ["10", "14"]
    assert Page(draw_strip([5.0], [5.0], range_="0 to 1")).words[-2:] == ["4.500", "5.500"]
    assert draw_strip([math.nan], []) == ""


def test_many_runs_become_bars() -> None:
    strip = draw_strip([0.5], [number / 5000 for number in range(5001)], range_="0 to 1")
    bars = Page(strip).all("rect")
    assert len(bars) == BARS
    assert {bar["opacity"] for bar in bars} <= {"0.8", "0.81", "0.82"}  # they are spread evenly
    assert centres(strip, "peer") == []


def test_several_runs_have_several_colours() -> None:
    dots = [dot for dot in Page(draw_strip([0.1, 0.2], [])).all("circle") if dot["class"] == "this"]
    assert len({dot["style"] for dot in dots}) == 2
