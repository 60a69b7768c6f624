"""A latent: how an encoder's outputs become the code that a decoder is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from pydantic import Field
from torch import Tensor

from unweave.settings import Settings


@dataclass(frozen=True, eq=False)
class Code:
    """One batch's code; each tensor is (B, D)."""

    z: Tensor  # what the decoder is given; gradients reach the encoder through it
    continuous: Tensor  # before chance or quantisation: a posterior's mean, or the code that was rounded
    logvar: Tensor | None = None  # of a Gaussian posterior
    quantised: Tensor | None = None  # the values chosen, with the codebook's gradient and none to the encoder
    indices: Tensor | None = None  # int64, which value of its codebook each latent took

    @property
    def representation(self) -> Tensor:
        """What stands for the image without chance: the mean, or the values chosen."""
        return self.continuous if self.quantised is None else self.quantised


class Latent(Settings):
    """A latent space of ``size`` latents."""

    size: int = Field(default=10, ge=1, le=100_000)

    @property
    def outputs(self) -> int:
        """How many numbers the encoder gives an image."""
        return self.size

    def start(self) -> dict[str, Tensor]:
        """What is learned of the latent space itself, at its start."""
        return {}

    def code(self, outputs: Tensor, learned: Mapping[str, Tensor], generator: torch.Generator | None = None) -> Code:
        """The code of an encoder's outputs (B, outputs); without a generator chance has no part."""
        raise NotImplementedError

    def values(self, learned: Mapping[str, Tensor]) -> Tensor | None:
        """The values that each latent can take (D, levels), smallest first; None for a continuous one."""
        return None


def straight_through(continuous: Tensor, quantised: Tensor) -> Tensor:
    """The quantised values exactly, with the gradient of the continuous ones (Bengio et al. 2013)."""
    return quantised.detach() + (continuous - continuous.detach())
