"""Shared by all published sets: grids, and files that are absent, damaged or of another version."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
import torch

import unweave
from tests.data.fabricated import SMALL, Shelf, h5, kept_files, noise, tar, written
from unweave.data import SETS
from unweave.errors import Unavailable
from unweave.factors import FactorSpace


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("mpi3d_toy", (6, 6, 2, 3, 3, 40, 40)),
        ("mpi3d_realistic", (6, 6, 2, 3, 3, 40, 40)),
        ("mpi3d_real", (6, 6, 2, 3, 3, 40, 40)),
        ("mpi3d_real_complex", (4, 4, 2, 3, 3, 40, 40)),
        ("shapes3d", (10, 10, 10, 8, 4, 15)),
        ("cars3d", (4, 24, 183)),
        ("smallnorb", (5, 9, 18, 6)),
        ("falcor3d", (5, 6, 6, 6, 6, 6, 6)),
        ("isaac3d", (3, 8, 5, 4, 4, 4, 6, 4, 4)),
    ],
)
def test_grids_are_the_published_ones(name: str, sizes: tuple[int, ...]) -> None:
    space = SETS[name].card.space
    assert space is not None
    assert space.sizes == sizes


def test_a_set_that_is_not_here_says_how_to_get_it(empty_data_root: Path) -> None:
    with pytest.raises(Unavailable, match=r"`unweave data fetch shapes3d`, or put 3dshapes\.h5 into .*shapes3d"):
        unweave.load("shapes3d")
    with pytest.raises(Unavailable, match=r"fetch mpi3d_real`"):
        unweave.load("mpi3d_multi")


def test_a_corrupt_file_is_named_with_both_checksums_and_not_converted(shelf: Shelf) -> None:
    (path,) = shelf.put("shapes3d", [h5(noise(12, 64, 64, 3))], SMALL)
    expected = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_bytes(path.read_bytes()[:-100])
    actual = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(
        Unavailable, match=f"3dshapes.h5 is not the published file: its sha256 should be {expected} but is {actual}"
    ):
        unweave.load("shapes3d")
    assert kept_files(path.parent) == ["3dshapes.h5"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("shapes3d", h5(noise(11, 64, 64, 3)), "the file has 11 images, but 12 were expected"),
        ("shapes3d", h5(noise(12, 64, 64, 1)), "expected uint8 images with 3 channels"),
        (
            "mpi3d_real",
            written(lambda s: np.savez(s, images=noise(10, 64, 64, 3))),
            "has 10 images, but 12 were expected",
        ),
        ("mpi3d_real", b"no zip", "damaged"),
        ("cars3d", tar({"data/cars/a.mat": b"no matlab"}), "has 96 images, but 192 were expected"),
        ("cars3d", b"no tar", "damaged"),
        ("falcor3d", b"no zip", "damaged"),
    ],
)
def test_another_version_of_a_file_is_refused_whole(shelf: Shelf, name: str, content: bytes, message: str) -> None:
    (path,) = shelf.put(name, [content], SMALL if name != "cars3d" else FactorSpace.of(elevation=4, azimuth=24, car=2))
    with pytest.raises(Unavailable, match=message):
        unweave.load(name)
    assert kept_files(path.parent) == [path.name]


def test_a_converted_set_needs_its_file_no_more(shelf: Shelf) -> None:
    (path,) = shelf.put("shapes3d", [h5(noise(12, 64, 64, 3))], SMALL)
    before = unweave.load("shapes3d").rows(torch.arange(12))
    path.unlink()
    assert torch.equal(unweave.load("shapes3d").rows(torch.arange(12)), before)
