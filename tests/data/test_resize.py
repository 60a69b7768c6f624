from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from unweave.data.files.picture_files import resize


def picture(size: int) -> torch.Tensor:
    return torch.randint(256, (2, 3, size, size), dtype=torch.uint8, generator=torch.Generator().manual_seed(size))


def test_the_same_size_is_the_same_tensor() -> None:
    images = picture(16)
    assert resize(images, 16) is images


def test_whole_reductions_average_blocks() -> None:
    images = picture(12)
    small = resize(images, 4)
    assert small.dtype == torch.uint8
    blocks = images.float().view(2, 3, 4, 3, 4, 3).mean((3, 5))
    assert (small.float() - blocks).abs().max() <= 0.5


@pytest.mark.parametrize(("size", "new"), [(96, 64), (10, 15), (64, 48)])
def test_other_sizes_agree_with_pillow(size: int, new: int) -> None:
    images = picture(size)
    for image, small in zip(images, resize(images, new), strict=True):
        expected = Image.fromarray(image.permute(1, 2, 0).numpy()).resize((new, new), Image.Resampling.BILINEAR)
        assert np.abs(np.asarray(expected, int) - small.permute(1, 2, 0).numpy()).max() <= 1
