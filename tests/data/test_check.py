"""Data sets beside what is published of them: drawn ones, whose constants must agree, and fabricated files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import unweave
from tests.data.fabricated import SMALL, Noise, Shelf, h5, noise
from unweave.data.check import PUBLISHED_CONSTANTS, Constants, check_data


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dsprites", "xysquares", "xyobject", "xyobject_shaded"])
def test_drawn_sets_have_the_published_constants(name: str, generator: torch.Generator) -> None:
    found = check_data(unweave.load(name), generator)
    assert found.off is not None
    assert found.off < 2e-8  # which another size, grid or palette would not reach
    assert found.agrees


def constants_of(images: Noise) -> Constants:
    pixels = images.reshape(len(images), -1, 3) / 255
    return Constants(tuple(pixels.mean((0, 1)).tolist()), tuple(pixels.std(1, ddof=1).mean(0).tolist()))


def test_a_file_agrees_with_constants_of_the_same_images_only(
    shelf: Shelf, generator: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = noise(12, 64, 64, 3) // np.array([1, 2, 3], np.uint8)
    (path,) = shelf.put("shapes3d", [h5(images)], SMALL)
    data = unweave.load("shapes3d")
    found = check_data(data, generator)
    assert [(file.path, file.state) for file in found.files] == [(path, "as published")]  # as the test published it
    assert not found.agrees  # they are not 3D Shapes
    monkeypatch.setitem(PUBLISHED_CONSTANTS, "shapes3d", constants_of(images))
    found = check_data(data, generator)
    assert found.off is not None
    assert found.off < 1e-6
    assert found.agrees
    monkeypatch.setitem(PUBLISHED_CONSTANTS, "shapes3d", constants_of(images[..., ::-1]))
    assert not check_data(data, generator).agrees
    path.write_bytes(b"another file")  # after it was converted
    (file,) = check_data(data, generator).files
    assert (file.state, file.checksum.partition(":")[0]) == ("not as published", "sha256")
    path.unlink()
    assert [file.state for file in check_data(data, generator).files] == ["not there"]


def test_a_set_of_another_size_is_not_compared(shelf: Shelf, generator: torch.Generator) -> None:
    shelf.put("shapes3d", [h5(noise(12, 64, 64, 3))], SMALL)
    found = check_data(unweave.load("shapes3d", size=32), generator)
    assert found.published is not None
    assert (found.off, found.other_options) == (None, {"size": 64, "filter": None})


def test_own_images_have_nothing_to_compare_with(tmp_path: Path, generator: torch.Generator) -> None:
    np.save(tmp_path / "mine.npy", noise(5, 8, 8))
    found = check_data(unweave.load(tmp_path / "mine.npy"), generator)
    assert (found.images, found.files, found.published, found.off) == (5, (), None, None)
    assert found.agrees
