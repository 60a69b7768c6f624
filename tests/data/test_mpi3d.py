"""MPI3D, on fabricated files of twelve images."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import unweave
from tests.data.fabricated import SMALL, Shelf, channels_first, noise, written
from unweave.data import FactorData, mpi3d
from unweave.data.mpi3d import MPI3DReal


@pytest.mark.parametrize("name", ["mpi3d_toy", "mpi3d_realistic", "mpi3d_real", "mpi3d_real_complex"])
def test_mpi3d_reads_the_npz_file_in_its_order(shelf: Shelf, name: str) -> None:
    images = noise(12, 64, 64, 3)
    shelf.put(name, [written(lambda stream: np.savez_compressed(stream, images=images))], SMALL)
    data = unweave.load(name)
    assert torch.equal(data.rows(torch.arange(12)), channels_first(images))
    half = unweave.load(name, size=32, filter="box").rows(torch.arange(12)).float()
    blocks = channels_first(images).float().unfold(2, 2, 2).unfold(3, 2, 2).mean((-1, -2))
    assert (half - blocks).abs().max() <= 1  # rows are rounded before columns


class NumberedPhotographs(FactorData):
    """A stand-in for the 12 GB of MPI3D photographs: each pixel kept by the tiling says which photograph it is from."""

    name, card, shape = MPI3DReal.name, MPI3DReal.card, (3, 64, 64)

    def _read(self, index: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor:
        images = torch.zeros(len(index), 3, 64, 64, dtype=torch.uint8)
        digits = torch.stack([index % 256, index // 256 % 256, index // 65536], dim=1)
        images[:, :, ::2, ::2] = digits[..., None, None].byte()
        return images


def test_mpi3d_multi_tiles_four_arms_of_the_large_blue_cube(
    monkeypatch: pytest.MonkeyPatch, generator: torch.Generator
) -> None:
    monkeypatch.setattr(mpi3d, "MPI3DReal", NumberedPhotographs)
    data = unweave.load("mpi3d_multi")
    assert data.space.sizes == (40,) * 8
    factors = data.space.sample(5, generator)
    images = data.images(factors).long()
    assert images.shape == (5, 3, 64, 64)
    found = images[:, 0] + 256 * images[:, 1] + 65536 * images[:, 2]
    blue_cube = torch.tensor([3, 1, 1, 0, 2]).expand(5, 5)  # blue, cube, large, seen from above, on salmon
    for arm, (row, column) in enumerate([(0, 0), (32, 0), (0, 32), (32, 32)]):
        photograph = torch.cat([blue_cube, factors[:, 2 * arm : 2 * arm + 2]], dim=1)
        expected = NumberedPhotographs().space.index(photograph)
        assert (found[:, row : row + 32, column : column + 32] == expected[:, None, None]).all()
