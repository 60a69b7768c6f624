"""Augmentation of the images that an encoder sees, while the decoder reconstructs the images as they are."""

from __future__ import annotations

from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from unweave.data.distances import box_blur
from unweave.settings import Settings


class Augmentation(Settings):
    """Random changes of the encoder's inputs, each drawn anew for every image.

    An image is changed with probability ``chance``: moved by up to ``shift`` pixels, with zeros beyond its edges;
    blurred by a box of ``blur`` pixels on each side; and with normal ``noise`` of this standard deviation added.
    """

    title: ClassVar[str] = "the augmentation"
    noise: float = Field(default=0.0, ge=0)
    blur: int = Field(default=0, ge=0, le=10_000)  # radius in pixels
    shift: int = Field(default=0, ge=0, le=10_000)  # pixels
    chance: float = Field(default=1.0, gt=0, le=1)

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Return changed images (B, C, H, W) in [0, 1]."""
        changed = images
        if self.shift:
            changed = self._shifted(changed, generator)
        if self.blur:
            changed = box_blur(changed, self.blur)
        if self.noise:
            noise = torch.randn(images.shape, generator=generator, device=images.device, dtype=images.dtype)
            changed = changed + self.noise * noise
        chosen = torch.rand(len(images), 1, 1, 1, generator=generator, device=images.device) < self.chance
        return torch.where(chosen, changed.clamp(0, 1), images)

    def _shifted(self, images: Tensor, generator: torch.Generator) -> Tensor:
        height, width = images.shape[-2:]
        moves = torch.randint(-self.shift, self.shift + 1, (2, len(images)), generator=generator, device=images.device)
        rows = torch.arange(height, device=images.device) - moves[0][:, None]  # (B, H): where each row comes from
        columns = torch.arange(width, device=images.device) - moves[1][:, None]  # (B, W)
        inside = ((rows >= 0) & (rows < height))[:, :, None] & ((columns >= 0) & (columns < width))[:, None, :]
        numbers = torch.arange(len(images), device=images.device)[:, None, None]
        source = (numbers, slice(None), rows.clamp(0, height - 1)[:, :, None], columns.clamp(0, width - 1)[:, None, :])
        return images[source].permute(0, 3, 1, 2) * inside[:, None]
