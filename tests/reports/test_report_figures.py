from __future__ import annotations

import base64
import io
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from tests.reports.reading import Page
from unweave import Run
from unweave.figures.catalogue import FIGURES
from unweave.figures.drawing.panels import PAGE
from unweave.figures.drawing.style import new_page
from unweave.reports.facts import read_facts
from unweave.reports.report_figures import (
    BARS,
    EDGE,
    HEIGHT,
    LARGE,
    UPRIGHT,
    WIDE,
    WIDTH,
    Budget,
    draw_strip,
    encode_figure,
    kind_of,
    show_figure,
    show_figures,
)


def scatter(points: int) -> Figure:
    figure = Figure(figsize=(4, 3), layout="constrained")
    values = np.random.default_rng(0).random((2, points))
    figure.subplots().plot(*values, "o")
    return figure


def pictured(array: object, **look: str) -> Figure:
    figure = Figure(figsize=(4, 3), layout="constrained")
    figure.subplots().imshow(array, **look)  # type: ignore[arg-type]
    return figure


def test_few_points_are_svg_and_many_are_pixels() -> None:
    media, content = encode_figure(scatter(50), "plot")
    assert media == "image/svg+xml"
    assert b"<svg" in content
    media, content = encode_figure(scatter(20_000), "plot")
    assert media == "image/png"
    assert Image.open(io.BytesIO(content)).size == (880, 660)  # 4 × 3 inches at 220 dots


def test_a_picture_keeps_within_its_bytes_where_it_can() -> None:
    noise = pictured(np.random.default_rng(0).random((400, 400, 3)))
    _, large = encode_figure(noise, "photo")
    media, small = encode_figure(noise, "photo", most=len(large) - 1)
    assert media == "image/webp"
    assert Image.open(io.BytesIO(small)).size < Image.open(io.BytesIO(large)).size


def test_images_and_heat_maps_are_not_inverted_in_dark_mode() -> None:
    assert kind_of(scatter(3)) == "plot"
    assert kind_of(pictured(np.zeros((2, 2)), cmap="viridis")) == "map"
    assert kind_of(pictured(np.zeros((2, 2)), cmap="RdBu_r")) == "plot"
    assert kind_of(pictured(np.zeros((2, 2, 3)))) == "photo"


def test_the_picture_is_part_of_the_page_and_wide_ones_scroll() -> None:
    shown = show_figure(scatter(3), 'a "small" one', caption="<b>")
    found = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', shown)
    assert found
    assert base64.b64decode(found[1]).startswith(b"<?xml")
    assert 'alt="a &quot;small&quot; one"' in shown
    assert "<figcaption>&lt;b&gt;</figcaption>" in shown
    wide = scatter(3)
    wide.set_size_inches(WIDE / 96 + 1, 2)
    assert 'class="wide"' in show_figure(wide, "wide")
    assert 'class="wide"' not in shown


def test_figures_are_larger_on_a_screen_and_have_their_own_size_in_print() -> None:
    small, page, wide = (scatter(3) for _ in range(3))
    page.set_size_inches(9, 2)
    wide.set_size_inches(14, 2)
    shown = [show_figure(figure, "a figure") for figure in (small, page, wide)]
    widths = [int(found[1]) for each in shown if (found := re.search(r'width="(\d+)"', each))]
    assert widths == [round(4 * 96 * LARGE), WIDE, 14 * 96]
    assert [re.search(r"--inches:([\d.]+)", each)[1] for each in shown] == ["4.00", "9.00", "14.00"]  # type: ignore[index]
    assert ['class="landscape"' in each for each in shown] == [False, True, True]


def test_a_figure_of_a_page_is_not_wider_than_a_report() -> None:
    assert PAGE <= UPRIGHT  # printed upright
    shown = show_figure(new_page(2.0), "a figure")
    assert 'class="wide"' not in shown
    found = re.search(r'width="(\d+)"', shown)
    assert found is not None
    assert int(found[1]) == round(PAGE * 96 * LARGE) <= WIDE


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


def test_pictures_share_the_bytes_that_remain() -> None:
    budget = Budget(2, total=40_000)
    figure = Figure(figsize=(2, 2))
    figure.subplots()
    first = budget.show(figure, "one")
    assert budget.left == 40_000 - len(first) * 3 // 4
    assert budget.pictures == 1


def test_figures_of_a_run_are_shown_by_topic(page: Path) -> None:
    shown = Page(page.read_text())
    topics = ["Reconstruction", "What the latents do", "Latents and factors", "Distribution of the codes", "Training"]
    effects = ["Traversals", "Two latents", "Jacobian", "Curvature"]
    headings = [word for word in shown.words if word in (*topics, *effects)]
    assert headings[len(topics) :] == [*topics[:2], *effects, *topics[2:]]  # after the contents
    assert FIGURES["traversals"].topic == topics[1]
    assert "Further figures" not in shown.words
    assert len(shown.all("h3")) == sum(figure.source in ("run", "runs") for figure in FIGURES.values())
    assert len(shown.all("img")) >= 10


def test_runs_that_cannot_be_opened_have_no_figures(runs: list[Run]) -> None:
    assert show_figures([replace(read_facts(runs[0].folder), data=None)]) == []
