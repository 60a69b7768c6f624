"""Change the size of images: block averages where blocks fit, filtered bilinear interpolation where they do not."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def resize(images: Tensor, size: int) -> Tensor:
    """uint8 (B, C, H, W) as uint8 (B, C, size, size).

    A whole-numbered reduction averages blocks; halving is then what plain bilinear filtering does (Michlo et al. 2023,
    app. B.4). Any other size is interpolated with the filter widened to the reduction, so that nothing aliases.
    """
    height, width = images.shape[-2:]
    if (height, width) == (size, size):
        return images
    if height % size == 0 and width % size == 0:
        block = (height // size, width // size)
        return (F.avg_pool2d(images.float(), block) + 0.5).byte()
    return F.interpolate(images, (size, size), mode="bilinear", antialias=True)
