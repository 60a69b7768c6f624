"""A model is an encoder, a latent and a decoder; a forward pass is one batch through them, computed when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor, nn

from unweave.latents import Code, Latent

Likelihood = Literal["bernoulli", "gaussian"]
Regroup = Callable[[Code, torch.Generator | None], Code]  # changes the posteriors of pairs before they are drawn


class Model(nn.Module):
    """Images (B, C, H, W) in [0, 1] to codes (B, D) and back; a Bernoulli's logits pass a sigmoid, means do not."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module, latent: Latent, likelihood: Likelihood) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        self.latent, self.likelihood = latent, likelihood
        self.learned = nn.ParameterDict({name: nn.Parameter(value) for name, value in latent.start().items()})

    def code(self, images: Tensor, generator: torch.Generator | None = None) -> Code:
        """The code of images; without a generator chance has no part."""
        return self.latent.code(self.encoder(images), dict(self.learned.items()), generator)

    @property
    def values(self) -> Tensor | None:
        """The values that each latent can take (D, levels), smallest first; None for a continuous one."""
        return self.latent.values(dict(self.learned.items()))

    def to_images(self, logits: Tensor) -> Tensor:
        """What the decoder's outputs mean, as images."""
        return logits.sigmoid() if self.likelihood == "bernoulli" else logits

    def decode(self, codes: Tensor) -> Tensor:
        """The images (B, C, H, W) that codes (B, D) stand for."""
        return self.to_images(self.decoder(codes))

    def activations(self, codes: Tensor) -> tuple[Tensor, ...]:
        """The decoder's hidden activations, first to last; its images where it does not show them."""
        hidden = getattr(self.decoder, "activations", None)
        return hidden(codes) if hidden else (self.decode(codes),)


class Forward:
    """One batch's pass through the model, shared by all terms: what two terms need is computed once."""

    def __init__(
        self,
        model: Model,
        images: Tensor,
        *,
        generator: torch.Generator,
        step: int = 0,
        steps: int = 1,
        dataset_size: int = 1,
        regroup: Regroup | None = None,
        adversaries: Mapping[str, nn.Module] | None = None,
    ) -> None:
        self.model, self.images = model, images  # (B, C, H, W) float in [0, 1]
        self.generator = generator  # of everything random in this pass, on the images' device
        self.step, self.steps, self.dataset_size = step, steps, dataset_size
        self.adversaries = adversaries or {}
        self._regroup = regroup

    @cached_property
    def code(self) -> Code:
        """The batch's code."""
        if self._regroup is None:
            return self.model.code(self.images, self.generator)
        return self._regroup(self.model.code(self.images), self.generator)

    @cached_property
    def logits(self) -> Tensor:
        """The decoder's outputs (B, C, H, W) at the code."""
        logits: Tensor = self.model.decoder(self.code.z)
        return logits

    @cached_property
    def reconstructions(self) -> Tensor:
        """The images (B, C, H, W) that the outputs mean."""
        return self.model.to_images(self.logits)

    def some_rows(self, share: float) -> Tensor:
        """Random rows of the batch (n,), without repetition: this share of them, at least one; all of them in order."""
        rows = len(self.images)
        n = max(1, round(share * rows))
        if n == rows:
            return torch.arange(rows, device=self.images.device)
        return torch.randperm(rows, generator=self.generator, device=self.images.device)[:n]
