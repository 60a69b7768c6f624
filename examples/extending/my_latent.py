"""A latent of your own: how the encoder's outputs become the code that the decoder is given."""

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor

from unweave.latents import Code, Latent


class Sphere(Latent):
    """Codes of length 1."""

    title: ClassVar[str] = "the sphere latent"

    def code(self, outputs: Tensor, learned: Mapping[str, Tensor], generator: torch.Generator | None = None) -> Code:
        """Divide the outputs (B, size) by their length."""
        z = torch.nn.functional.normalize(outputs, dim=1)
        return Code(z, z)
