"""Falcor3D and Isaac3D, on fabricated archives of a few pictures."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
import torch
from PIL import Image

import unweave
from tests.data.fabricated import Shelf, kept_files, noise, written
from unweave.errors import Unavailable
from unweave.factors import FactorSpace


@pytest.mark.parametrize(
    ("name", "labels_name"),
    [("falcor3d", "Falcor3D_down128/train-rec.labels"), ("isaac3d", "Isaac3D_down128/labels.npy")],
)
def test_numbered_pictures_go_where_their_labels_say(shelf: Shelf, name: str, labels_name: str) -> None:
    space = FactorSpace.of(a=2, b=3)
    order = np.random.default_rng(1).permutation(6)  # in the archive, pictures are in no particular order
    values = [np.array([0.25, 0.5]), np.array([-1.0, 0.0, 3.0])]
    labels = np.array([[values[0][i // 3], values[1][i % 3]] for i in order], np.float32)
    images = noise(6, 128, 128, 3)

    def write(stream: io.BytesIO) -> None:
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr(labels_name, written(lambda s: np.save(s, labels)))
            for number, image in enumerate(images):
                png = written(lambda s, image=image: Image.fromarray(image).save(s, "png"))  # type: ignore[misc]
                archive.writestr(f"{labels_name.split('/')[0]}/images/{number:06}.png", png)

    shelf.put(name, [written(write)], space)
    data = unweave.load(name, size=128)
    for number, cell in enumerate(order):
        assert torch.equal(data.rows(torch.tensor([cell]))[0], torch.from_numpy(images[number]).permute(2, 0, 1))
    assert unweave.load(name).shape == (3, 64, 64)


def test_labels_that_leave_rows_empty_are_refused(shelf: Shelf) -> None:
    labels = np.array([[0, 0], [0, 1], [1, 0], [1, 0]], np.float32)  # [1, 1] is missing

    def write(stream: io.BytesIO) -> None:
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("Falcor3D_down128/train-rec.labels", written(lambda s: np.save(s, labels)))
            png = written(lambda s: Image.fromarray(noise(128, 128, 3)).save(s, "png"))
            for number in range(4):
                archive.writestr(f"Falcor3D_down128/images/{number:06}.png", png)

    (path,) = shelf.put("falcor3d", [written(write)], FactorSpace.of(a=2, b=2))
    with pytest.raises(Unavailable, match="1 of 4 images are not in the files"):
        unweave.load("falcor3d")
    assert kept_files(path.parent) == [path.name]
