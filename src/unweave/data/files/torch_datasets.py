"""A torch Dataset as arrays: each item is an image, or an image followed by its labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor
from torch.utils.data import Dataset, IterableDataset

from unweave.errors import InputError
from unweave.progress import progress


def read_dataset(dataset: Dataset[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Read every item once: images (N, …) and labels (N, K), None if the items are images only."""
    if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__"):
        raise InputError(
            f"{type(dataset).__name__} has no length: pass a map-style Dataset, or an array of its images."
        )
    images: list[NDArray[Any]] = []
    labels: list[list[Any]] = []
    with progress("reading the Dataset", len(dataset)) as advance:
        for index in range(len(dataset)):
            image, *rest = _parts(index, dataset[index])
            images.append(image)
            labels.append([value for part in rest for value in _values(index, part)])
            if image.shape != images[0].shape or len(labels[-1]) != len(labels[0]):
                raise InputError(
                    f"item {index} of the Dataset has an image of {image.shape} and {len(labels[-1])} labels, but item "
                    f"0 has {images[0].shape} and {len(labels[0])}: all must have the same shapes."
                )
            advance(1)
    if not images:
        raise InputError("the Dataset is empty.")
    return np.stack(images), np.array(labels, dtype=object) if labels[0] else None


def _parts(index: int, item: Any) -> list[Any]:
    """Return the image of an item as an array, and its labels unchanged."""
    image, *labels = item if isinstance(item, tuple | list) else (item,)
    if not isinstance(image, Tensor | np.ndarray | Image.Image):
        raise InputError(
            f"item {index} of the Dataset must be an image, or a tuple of an image and labels; "
            f"the image must be a tensor, an array or a PIL image, got {type(image).__name__}."
        )
    return [image.detach().cpu().numpy() if isinstance(image, Tensor) else np.asarray(image), *labels]


def _values(index: int, label: Any) -> list[Any]:
    """Return a label as a flat list: a number, a string, or a row of them."""
    if isinstance(label, Tensor | np.ndarray | np.generic):
        label = label.tolist()
    row = label if isinstance(label, list | tuple) else [label]
    if not all(isinstance(value, bool | int | float | str) for value in row):
        raise InputError(f"the labels of item {index} must be numbers or strings, got {label!r}.")
    return list(row)
