"""A deterministic code: the encoder's outputs themselves, as in an autoencoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor

from unweave.latents.latent import Code, Latent


class Deterministic(Latent):
    """Real-valued latents without noise."""

    title: ClassVar[str] = "the deterministic latent"

    def code(self, outputs: Tensor, learned: Mapping[str, Tensor], generator: torch.Generator | None = None) -> Code:
        """Return the outputs as the code."""
        return Code(outputs, outputs)
