from __future__ import annotations

import itertools

import pytest
import torch

from unweave.figures.drawing.panels import PAGE
from unweave.figures.drawing.strips import BORDER, LABEL, WIDTH, draw_strips, in_colour, mosaic, to_bytes


def test_rows_stand_below_one_another_with_labels_borders_and_captions() -> None:
    red = torch.zeros(2, 3, 8, 8, dtype=torch.uint8)
    red[:, 0] = 255
    white = torch.full((1, 1, 8, 8), 255, dtype=torch.uint8)
    figure = draw_strips("title", [("red", red), ("white", white)], captions=[["1", "2"], ["3"]], note="a note")
    first, second = (axes.images[0].get_array() for axes in figure.axes)
    assert first is not None
    assert second is not None
    assert (first.shape, second.shape) == ((10, 20, 3), (10, 10, 3))
    assert first[1, 1].tolist() == [255, 0, 0]
    assert second[0, 0].tolist() == [BORDER] * 3  # a white image has an edge
    assert second[5, 5].tolist() == [255, 255, 255]
    assert [text.get_text() for text in figure.texts] == ["title", "a note", "red", "1", "2", "white", "3"]
    heights = [axes.get_position().y0 for axes in figure.axes]
    assert heights[0] > heights[1] > 0


def test_images_become_bytes() -> None:
    assert to_bytes(torch.tensor([0.0, 0.5, 1.0, 1.2, -0.1])).tolist() == [0, 128, 255, 255, 0]


def test_images_of_any_number_of_channels_get_three() -> None:
    images = torch.tensor([10, 21], dtype=torch.uint8).view(1, 2, 1, 1)
    assert in_colour(images).flatten().tolist() == [16, 16, 16]
    assert in_colour(images[:, :1]).flatten().tolist() == [10, 10, 10]
    coloured = torch.arange(3, dtype=torch.uint8).view(1, 3, 1, 1)
    assert torch.equal(in_colour(coloured), coloured)


@pytest.mark.parametrize("side", [8, 16, 32, 64])
def test_the_widest_row_ends_inside_the_figure(side: int) -> None:
    images = torch.zeros(16, 1, side, side, dtype=torch.uint8)
    figure = draw_strips("title", [("all", images), ("half", images[:8])])
    inches = figure.get_figwidth()
    first, second = ((axes.get_position().x0 * inches, axes.get_position().x1 * inches) for axes in figure.axes)
    assert first == pytest.approx((LABEL, LABEL + WIDTH))
    assert second == pytest.approx((LABEL, LABEL + WIDTH / 2))


def test_texts_have_a_readable_size_and_stay_inside_a_printed_page() -> None:
    images = torch.zeros(30, 1, 8, 8, dtype=torch.uint8)
    captions = [f"−{number}.25" for number in range(30)]
    long = "a label that somebody gave to a run and that is much longer than the margin"
    figure = draw_strips("title", [(long, images)], captions=[captions], note="note " * 40, footer="foot " * 40)
    assert figure.get_figwidth() <= PAGE
    assert min(float(text.get_fontsize()) for text in figure.texts) >= 7
    boxes = [text.get_window_extent() for text in figure.texts]
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.x1 for box in boxes)
    shown = [text for text in figure.texts if text.get_text() in captions]
    assert 10 <= len(shown) < 30  # every second or third
    places = [text.get_window_extent() for text in shown]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(places))


def test_a_long_title_fits_into_the_figure() -> None:
    title = "beta_vae+kernel_multiinformation (kernel_multiinformation 0.0001, lr 0.001, …) on dsprites, " * 2
    figure = draw_strips(title, [("z0", torch.zeros(3, 1, 8, 8, dtype=torch.uint8))])
    assert figure.texts[0].get_window_extent().x1 < figure.bbox.x1


def test_images_of_a_mosaic_stand_in_rows_and_columns() -> None:
    images = torch.arange(6, dtype=torch.uint8).view(2, 3, 1, 1, 1).expand(2, 3, 1, 4, 5)
    page = mosaic(images)
    assert page.shape == (2 * (4 + 3), 3 * (5 + 3), 3)
    for row in range(2):
        for column in range(3):
            top, left = row * 7, column * 8
            assert (page[top + 1 : top + 5, left + 1 : left + 6] == row * 3 + column).all()
            assert (page[top, left : left + 7] == BORDER).all()
            assert (page[top + 6, left : left + 8] == 255).all()
