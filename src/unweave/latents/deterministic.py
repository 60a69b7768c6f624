"""A plain code: the encoder's outputs as they are, as in an autoencoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor

from unweave.latents.latent import Code, Latent


class Deterministic(Latent):
    """Real latents without chance."""

    title: ClassVar[str] = "the deterministic latent"

    def code(self, outputs: Tensor, learned: Mapping[str, Tensor], generator: torch.Generator | None = None) -> Code:
        """The outputs themselves."""
        return Code(outputs, outputs)
