"""Resize images by one of the filters of Pillow, with the same bytes as Pillow."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from unweave.errors import unknown

Filter = Literal["bilinear", "lanczos", "bicubic", "box"]
BEFORE_FILTERS: Mapping[str, Any] = MappingProxyType({"filter": None})  # the option of runs named before it existed


def resize(images: Tensor, size: int, filter: Filter | None = "bilinear") -> Tensor:
    """Resize uint8 images (B, C, H, W) to (B, C, size, size).

    The filter is as wide as the reduction, to avoid aliasing. Bytes equal those of ``PIL.Image.resize``, which filters
    rows, rounds, and filters columns. ``torch.nn.functional.interpolate`` with ``antialias=True`` gives the same bytes
    for bilinear; for bicubic it differs by up to 2 of 255.

    ``None`` is what earlier versions did, kept for sets whose runs were named then: means of blocks, rounded once, for
    a reduction by a whole factor, and bilinear otherwise. Means of blocks differ from the filter "box" by rounding, at
    most 1 of 255, but much from "bilinear", whose filter is twice as wide.
    """
    height, width = images.shape[-2:]
    if (height, width) == (size, size):
        return images
    if filter is None and height % size == 0 and width % size == 0:
        return _block_means(images, height // size, width // size)
    rows = _filter_rows(images, size, filter or "bilinear")
    return _filter_rows(rows.transpose(-1, -2), size, filter or "bilinear").transpose(-1, -2).contiguous()


def check_filter(name: str, filter: object) -> Filter | None:
    """Check the filter of data set ``name``, and return it."""
    if filter is not None and filter not in get_args(Filter):
        raise unknown(f"filter of {name}", str(filter), get_args(Filter), setting="filter")
    return filter  # type: ignore[return-value]


def named_filter(filter: Filter | None, pixels: int, size: int) -> Filter | None:
    """Return the filter for the identity of square images reduced from ``pixels`` to ``size``.

    It is None if the images are those of earlier versions, whose identities had no filter: if nothing is reduced, or by
    the filter that was used then.
    """
    as_before = pixels == size or (filter == "bilinear" and pixels % size != 0)
    return None if as_before else filter


def _filter_rows(images: Tensor, size: int, filter: Filter) -> Tensor:
    """Resize the last axis; all rows of all images are the rows of one grey picture."""
    rows = np.ascontiguousarray(images.numpy()).reshape(-1, images.shape[-1])
    resized = Image.fromarray(rows).resize((size, len(rows)), Image.Resampling[filter.upper()])
    return torch.from_numpy(np.array(resized)).view(*images.shape[:-1], size)


def _block_means(images: Tensor, tall: int, wide: int) -> Tensor:
    rows = reduce(torch.add, [images[..., i::tall, :].float() for i in range(tall)])  # faster than avg_pool2d
    sums = reduce(torch.add, [rows[..., i::wide] for i in range(wide)])
    return (sums / (tall * wide) + 0.5).byte()
