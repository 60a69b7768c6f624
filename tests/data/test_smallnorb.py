"""smallNORB, on fabricated halves of forty images."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import unweave
from tests.data.fabricated import Noise, Shelf
from unweave.data import smallnorb
from unweave.factors import FactorSpace


def norb(matrix: NDArray[np.generic]) -> bytes:
    """NORB's matrix format, gzipped: magic number, axes, at least three sizes, entries."""
    magic = {"uint8": 0x1E3D4C55, "int32": 0x1E3D4C54}[matrix.dtype.name]
    sizes = list(matrix.shape) + [1] * (3 - matrix.ndim)
    header = np.array([magic, matrix.ndim, *sizes], "<i4").tobytes()
    return gzip.compress(header + matrix.tobytes())


def fabricate_norb(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> dict[tuple[int, ...], Noise]:
    """Two categories, two elevations, two azimuths, one light; instances as in the real halves. In random order."""
    monkeypatch.setattr(
        smallnorb,
        "_grid",
        lambda instances: FactorSpace.of(category=2, instance=instances, elevation=2, azimuth=2, lighting=1),
    )
    rng, contents = np.random.default_rng(0), []
    pictures: dict[tuple[int, ...], Noise] = {}
    for instances in ((4, 6, 7, 8, 9), (0, 1, 2, 3, 5)):
        points = [(c, i, e, a, 0) for c in (0, 1) for i in instances for e in (0, 1) for a in (0, 1)]
        rng.shuffle(points)
        stereo = rng.integers(0, 256, (len(points), 2, 96, 96), dtype=np.uint8)
        pictures |= {tuple(map(int, p)): image[0] for p, image in zip(points, stereo, strict=True)}
        labels = np.array(points, np.int32)
        labels[:, 3] *= 2  # azimuths are counted in twos
        contents += [norb(stereo), norb(labels[:, 0].copy()), norb(labels[:, 1:].copy())]
    shelf.put("smallnorb", contents, FactorSpace.of(category=2, elevation=2, azimuth=2, lighting=1))
    return pictures


def test_smallnorb_joins_the_halves_and_hides_the_instance(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, generator: torch.Generator
) -> None:
    pictures = fabricate_norb(shelf, monkeypatch)
    data = unweave.load("smallnorb", size=96)
    assert data.stochastic
    assert data.num_images == 8
    seen = data.images(torch.tensor([[1, 0, 1, 0]]).expand(300, 4), generator)
    expected = {pictures[1, instance, 0, 1, 0].tobytes() for instance in range(10)}
    assert {image.numpy().tobytes() for image in seen} == expected
    assert data.rows(torch.tensor([0, 7]), generator).shape == (2, 1, 96, 96)
    assert unweave.load("smallnorb").shape == (1, 64, 64)


@pytest.mark.parametrize(("half", "instances"), [("training", (4, 6, 7, 8, 9)), ("both", tuple(range(10)))])
def test_smallnorb_can_show_the_instance(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, half: str, instances: tuple[int, ...]
) -> None:
    pictures = fabricate_norb(shelf, monkeypatch)
    data = unweave.load("smallnorb", size=96, half=half, hide_instance=False)
    assert not data.stochastic
    assert data.space.names == ("category", "instance", "elevation", "azimuth", "lighting")
    for position, instance in enumerate(instances):
        image = data.images(torch.tensor([[0, position, 1, 0, 0]]))[0, 0]
        assert np.array_equal(image, pictures[0, instance, 1, 0, 0])


@pytest.mark.parametrize(("half", "others"), [("training", slice(3, 6)), ("testing", slice(0, 3))])
def test_one_half_needs_its_own_files_only(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, generator: torch.Generator, half: str, others: slice
) -> None:
    fabricate_norb(shelf, monkeypatch)
    for file in smallnorb.SmallNORB.card.files[others]:
        (shelf.root / "smallnorb" / file.name).unlink()
    assert unweave.load("smallnorb", half=half).sample(2, generator).images.shape == (2, 1, 64, 64)


def test_smallnorb_has_two_halves(empty_data_root: Path) -> None:
    with pytest.raises(ValueError, match="'both', 'training' or 'testing'"):
        unweave.load("smallnorb", half="third")
