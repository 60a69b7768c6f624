"""An encoder of the user's own with data: any callable from images to codes."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import InputError
from unweave.latents import Summary
from unweave.metrics import kl_per_latent
from unweave.metrics.scoring.encoders import (
    Encode,
    decoder_of,
    evaluating,
    is_discrete,
    posterior_of,
    reconstruction_of,
)
from unweave.metrics.scoring.inputs import check_codes
from unweave.names import spelled
from unweave.representation.interface import BATCH, Representation
from unweave.streams import stream

SUMMARISED = 2048  # images that statistics of latents are computed from


class Encoder(Representation):
    """A callable from float images (B, C, H, W) in [0, 1] to codes (B, D), with the data that it encodes.

    The callable may have more, as :mod:`unweave.metrics.scoring.encoders` describes: ``decode(codes)`` for figures of
    what latents do, ``reconstruct(images)``, ``posterior(images)`` and ``discrete``.

    Args:
        encode: The callable.
        data: The data set.
        name: How it is called in titles, by default the name of the callable.
    """

    encodes = True

    def __init__(self, encode: Encode, data: FactorData, *, name: str = "") -> None:
        if not callable(encode):
            raise InputError(f"an encoder must be callable, from images to codes, got {type(encode).__name__}.")
        if not isinstance(data, FactorData):
            raise InputError(f"an encoder needs data, as unweave.load returns it, got {type(data).__name__}.")
        self.function, self._data = encode, data
        self.method = self.label = name or _name_of(encode)
        self.title = f"{self.method} on {spelled(data.identity.label)}"
        self.shape, self.discrete = data.shape, is_discrete(encode)
        self.has_posterior, self.decodes = posterior_of(encode) is not None, decoder_of(encode) is not None

    @cached_property
    def size(self) -> int:
        """The number of latents, that of the first image."""
        return self.draw(1, stream(0, "summary")).codes.shape[1]

    @cached_property
    def summary(self) -> Summary:
        """Statistics of each latent over a sample of the data."""
        images = self._data.sample(SUMMARISED, stream(0, "summary")).images
        if not self.has_posterior:
            return Summary.of_codes(self.encode(images))
        mean, logvar = self.posterior(images)
        return Summary.of_codes(mean, kl=kl_per_latent(mean, logvar).per_latent.tolist())

    def data(self) -> FactorData:
        """Return the data set."""
        return self._data

    def reconstruct(self, images: Tensor) -> Tensor:
        """Return the reconstructions by the method of the encoder, or else encode and decode images (B, C, H, W)."""
        reconstruct = reconstruction_of(self.function)
        if reconstruct is None:
            return super().reconstruct(images)
        return self._called(reconstruct, self._images(images)).clamp(0, 1)

    def encode(self, images: Tensor) -> Tensor:
        """Return the codes (B, D) of images (B, C, H, W)."""
        images = self._images(images)
        codes = self._called(self.function, images)
        codes = torch.from_numpy(check_codes("encode", codes, rows=0)).float()
        if len(codes) != len(images):
            raise InputError(f"{self.method} was given {len(images)} images but returned {len(codes)} codes.")
        return codes

    def posterior(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and log-variance (B, D) of the posterior of images (B, C, H, W)."""
        function = posterior_of(self.function)
        if function is None:
            raise InputError(f"{self.title} has no posterior: it has no method posterior.")
        both = self._called(lambda part: torch.cat(list(function(part)), dim=1), self._images(images), of=function)
        mean, logvar = both.chunk(2, dim=1)
        return mean, logvar

    def decode(self, codes: Tensor) -> Tensor:
        """Return images (B, C, H, W) in [0, 1] of codes (B, D)."""
        function = decoder_of(self.function)
        if function is None or not len(codes):
            return super().decode(codes)
        return self._called(function, self._codes(codes)).clamp(0, 1)

    def _decode(self, codes: Tensor) -> Tensor:
        function = decoder_of(self.function)
        assert function is not None
        with evaluating(function) as like, torch.set_grad_enabled(codes.requires_grad):
            images: Tensor = function(codes.to(like))
        return images

    def _called(self, function: Encode, rows: Tensor, of: Encode | None = None) -> Tensor:
        """Call a function on rows, some at a time, with its modules in evaluation mode."""
        parts = []
        with evaluating(of or function) as like:
            for part in rows.split(BATCH):
                parts.append(torch.as_tensor(function(part.to(like))).float().cpu())
        return torch.cat(parts)


def _name_of(encode: Any) -> str:
    name = getattr(encode, "__qualname__", None) or type(encode).__name__
    return "encoder" if "<lambda>" in name else str(name).replace("<locals>.", "")
