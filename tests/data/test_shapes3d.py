"""3D Shapes, on a fabricated file of twelve images."""

from __future__ import annotations

import torch

import unweave
from tests.data.fabricated import SMALL, Shelf, channels_first, h5, noise


def test_shapes3d_reads_the_h5_file_in_its_order(shelf: Shelf) -> None:
    images = noise(12, 64, 64, 3)
    shelf.put("shapes3d", [h5(images)], SMALL)
    data = unweave.load("shapes3d")
    assert torch.equal(data.rows(torch.arange(12)), channels_first(images))
    assert torch.equal(data.images(torch.tensor([[2, 0, 1]])), channels_first(images)[[9]])
