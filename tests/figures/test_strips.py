from __future__ import annotations

import torch

from unweave.figures.strips import draw_strips, to_bytes


def test_rows_stand_under_one_another_with_their_labels() -> None:
    red = torch.zeros(2, 3, 8, 8, dtype=torch.uint8)
    red[:, 0] = 255
    figure = draw_strips("title", [("red", red), ("grey", torch.full((1, 1, 8, 8), 99, dtype=torch.uint8))])
    page = figure.axes[0].images[0].get_array()
    assert page is not None
    assert page.shape == (18, 18, 3)
    assert page[0, 0].tolist() == [255, 0, 0]
    assert page[9, 0].tolist() == [99, 99, 99]
    assert page[9, 12].tolist() == [255, 255, 255]
    assert [text.get_text() for text in figure.axes[0].texts] == ["red", "grey"]


def test_images_become_bytes() -> None:
    assert to_bytes(torch.tensor([0.0, 0.5, 1.0, 1.2, -0.1])).tolist() == [0, 128, 255, 255, 0]
