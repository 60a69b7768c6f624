from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import Dataset, IterableDataset, TensorDataset

import unweave
from unweave.data.files.own_sources import read_dataset
from unweave.errors import InputError

IMAGES = np.random.default_rng(0).integers(0, 256, (6, 8, 9, 3), dtype=np.uint8)
LABELS = torch.tensor([[i // 3, i % 3] for i in range(6)])


class Items(Dataset[Any]):
    def __init__(self, *items: Any) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: int) -> Any:
        return self._items[index]


class Stream(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        return iter(IMAGES)


def test_items_are_images_and_labels() -> None:
    images, labels = read_dataset(TensorDataset(torch.from_numpy(IMAGES), LABELS))
    assert np.array_equal(images, IMAGES)
    assert labels is not None
    assert labels.tolist() == LABELS.tolist()
    images, labels = read_dataset(Items(*(Image.fromarray(image) for image in IMAGES)))
    assert np.array_equal(images, IMAGES)
    assert labels is None
    _, labels = read_dataset(Items((IMAGES[0], "disc", np.int64(3), (0.5, True))))
    assert labels is not None
    assert labels.tolist() == [["disc", 3, 0.5, True]]


def test_a_dataset_is_loaded_as_a_data_set() -> None:
    items = Items(*((torch.from_numpy(i).permute(2, 0, 1) / 255, "ab"[n % 2], n) for n, i in enumerate(IMAGES)))
    data = unweave.load(items, names=["letter", "number"], kinds={"number": "cyclic"})
    assert data.space.sizes == (2, 6)
    assert data.space.kinds == ("categorical", "cyclic")
    assert data.finite_table
    assert torch.equal(data.rows(torch.arange(6)), torch.from_numpy(IMAGES).permute(0, 3, 1, 2))
    assert data.identity.source is None
    other = unweave.load(items, factors=LABELS)
    assert other.space.sizes == (2, 3)
    assert "found with the images were not used" in other.notes[0]


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        (Items(), "the Dataset is empty"),
        (Stream(), "Stream has no length: pass a map-style Dataset"),
        (Items({"image": IMAGES[0]}), "a tensor, an array or a PIL image, got dict"),
        (Items((IMAGES[0], None)), "labels of item 0 must be numbers or strings, got None"),
        (Items(IMAGES[0], IMAGES[0, :4]), r"item 1 of the Dataset has an image of \(4, 9, 3\)"),
        (
            Items((IMAGES[0], 1), (IMAGES[0], 1, 2)),
            "and 2 labels, but item 0 has .* and 1: all must have the same shapes",
        ),
    ],
)
def test_other_items_are_a_sentence(dataset: Dataset[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_dataset(dataset)
