"""Cars3D, on a fabricated archive of three cars."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.io import savemat

import unweave
from tests.data.fabricated import Shelf, noise, tar, written
from unweave.factors import FactorSpace


@pytest.mark.parametrize("listed", [True, False])
def test_cars3d_reads_one_matlab_file_a_car(shelf: Shelf, listed: bool) -> None:
    meshes = {f"car_{number:03}_mesh": noise(128, 128, 3, 24, 4) + np.uint8(number) for number in (2, 1, 3)}
    members = {"data/sprites/other.mat": b"not a car"}
    members |= {f"data/cars/{car}.mat": written(lambda s, im=im: savemat(s, {"im": im})) for car, im in meshes.items()}  # type: ignore[misc]
    order = sorted(meshes)
    if listed:
        order = order[::-1]
        members["data/cars/list.txt"] = "\n".join(order).encode()
    shelf.put("cars3d", [tar(members)], FactorSpace.of(elevation=4, azimuth=24, object_type=3))
    data = unweave.load("cars3d", size=128)
    for factors in ([0, 0, 0], [3, 23, 2], [1, 7, 1]):
        elevation, azimuth, car = factors
        expected = torch.from_numpy(meshes[order[car]][:, :, :, azimuth, elevation]).permute(2, 0, 1)
        assert torch.equal(data.images(torch.tensor([factors]))[0], expected)
    assert unweave.load("cars3d").shape == (3, 64, 64)
