from __future__ import annotations

import base64
import io
import re

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from unweave.figures.drawing.panels import PAGE
from unweave.figures.drawing.style import new_page
from unweave.reports.html.embedded_figures import LARGE, UPRIGHT, WIDE, encode_figure, kind_of, show_figure


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
