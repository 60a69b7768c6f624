from __future__ import annotations

import torch

from unweave.figures.drawing.mosaic import mosaic
from unweave.figures.drawing.strips import BORDER


def test_images_stand_in_rows_and_columns() -> None:
    images = torch.arange(6, dtype=torch.uint8).view(2, 3, 1, 1, 1).expand(2, 3, 1, 4, 5)
    page = mosaic(images)
    assert page.shape == (2 * (4 + 3), 3 * (5 + 3), 3)
    for row in range(2):
        for column in range(3):
            top, left = row * 7, column * 8
            assert (page[top + 1 : top + 5, left + 1 : left + 6] == row * 3 + column).all()
            assert (page[top, left : left + 7] == BORDER).all()
            assert (page[top + 6, left : left + 8] == 255).all()
