"""A model is an encoder, a latent and a decoder. A forward pass computes what terms ask for, once per batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor, nn

from unweave.errors import InputError, whole
from unweave.latents import Code, Latent

Likelihood = Literal["bernoulli", "continuous_bernoulli", "gaussian", "laplace"]
IN_UNIT_RANGE = ("bernoulli", "continuous_bernoulli")  # likelihoods of images in [0, 1], whose outputs are logits
Augment = Callable[[Tensor, torch.Generator], Tensor]  # changes the images that the encoder sees
Regroup = Callable[[Code, torch.Generator | None], Code]  # changes the posteriors of pairs before codes are sampled


class Model(nn.Module):
    """Maps images (B, C, H, W) in [0, 1] to codes (B, D) and back.

    Args:
        encoder: A module from images (B, C, H, W) to what the latent reads, (B, outputs).
        decoder: A module from codes (B, D) to outputs (B, C, H, W).
        latent: The latent space, which makes codes of the encoder's outputs.
        likelihood: The likelihood of the images: for "bernoulli" and "continuous_bernoulli" the decoder's outputs are
            logits, otherwise images.
        channels: The number of channels, which ``offset`` and ``standardised`` need.
        offset: Whether a buffer of that name, one value per channel, is added to the decoder's outputs. Training sets
            it so that an untrained decoder starts near the mean image.
        standardised: Whether the encoder sees standardised images, and the decoder's outputs are standardised images
            too, by the buffers ``mean`` and ``std`` (Michlo et al. 2023, app. B.4).
    """

    offset: Tensor | None  # (C, 1, 1)
    mean: Tensor | None  # (C, 1, 1)
    std: Tensor | None  # (C, 1, 1)

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        latent: Latent,
        likelihood: Likelihood,
        *,
        channels: int | None = None,
        offset: bool = False,
        standardised: bool = False,
    ) -> None:
        super().__init__()
        if standardised and likelihood in IN_UNIT_RANGE:
            raise InputError(
                f"standardised images are not in [0, 1], so the likelihood {likelihood!r} is not defined for them: "
                "use likelihood 'gaussian'."
            )
        self.encoder, self.decoder = encoder, decoder
        self.latent, self.likelihood = latent, likelihood
        self.learned = nn.ParameterDict({name: nn.Parameter(value) for name, value in latent.start().items()})
        shape = (whole("a model: channels", channels, at_least=1), 1, 1) if offset or standardised else (0, 1, 1)
        self.register_buffer("offset", torch.zeros(shape) if offset else None)
        self.register_buffer("mean", torch.zeros(shape) if standardised else None)
        self.register_buffer("std", torch.ones(shape) if standardised else None)

    @property
    def values(self) -> Tensor | None:
        """The values that each latent can take (D, levels), in increasing order; None if it is continuous."""
        return self.latent.values(dict(self.learned.items()))

    def standardise(self, images: Tensor) -> Tensor:
        """Return images as the encoder sees them: (x − mean) / std, or unchanged if the model is not standardised."""
        return images if self.mean is None or self.std is None else (images - self.mean) / self.std

    def code(self, images: Tensor, generator: torch.Generator | None = None) -> Code:
        """Return the code of images; deterministic if ``generator`` is None."""
        return self.code_of_standardised(self.standardise(images), generator)

    def code_of_standardised(self, images: Tensor, generator: torch.Generator | None = None) -> Code:
        """Return the code of what :meth:`standardise` returned."""
        return self.latent.code(_in_float32(self.encoder(images)), dict(self.learned.items()), generator)

    def outputs(self, codes: Tensor, hidden: Sequence[Tensor] | None = None) -> Tensor:
        """Return the decoder's outputs (B, C, H, W) for codes (B, D): logits of a Bernoulli, or means.

        ``hidden`` are the activations of the codes, if they are known and the decoder can ``finish`` them.
        """
        finish: Callable[..., Tensor] | None = getattr(self.decoder, "finish", None)
        outputs = _in_float32(self.decoder(codes) if finish is None or hidden is None else finish(hidden))
        return outputs if self.offset is None else outputs + self.offset

    def to_images(self, outputs: Tensor) -> Tensor:
        """Map outputs to images: logits to the mean of their distribution, or undo the standardisation of means."""
        if self.likelihood == "bernoulli":
            return outputs.sigmoid()
        if self.likelihood == "continuous_bernoulli":
            return continuous_bernoulli_mean(outputs)
        return outputs if self.mean is None or self.std is None else outputs * self.std + self.mean

    def to_outputs(self, images: Tensor) -> Tensor:
        """Map images, not 0 or 1, to the outputs that stand for them; the inverse of :meth:`to_images`."""
        if self.likelihood not in IN_UNIT_RANGE:
            return self.standardise(images)
        if self.likelihood == "bernoulli":
            return images.logit()
        low, high = torch.full_like(images, -1e4), torch.full_like(images, 1e4)
        for _ in range(60):  # the mean has no inverse in closed form, but increases with the logit
            middle = (low + high) / 2
            above = continuous_bernoulli_mean(middle) > images
            low, high = torch.where(above, low, middle), torch.where(above, middle, high)
        return (low + high) / 2

    def decode(self, codes: Tensor) -> Tensor:
        """Return the images (B, C, H, W) of codes (B, D). Gaussian means are not clamped to [0, 1]."""
        return self.to_images(self.outputs(codes))

    def activations(self, codes: Tensor) -> tuple[Tensor, ...]:
        """Return the decoder's hidden activations, first to last, or its images if it has no ``activations``."""
        hidden = getattr(self.decoder, "activations", None)
        return hidden(codes) if hidden else (self.decode(codes),)


def continuous_bernoulli_mean(logits: Tensor) -> Tensor:
    r"""Return the mean of a continuous Bernoulli, :math:`1 / (1 - e^{-l}) - 1 / l` (Loaiza-Ganem & Cunningham 2019)."""
    small = logits.abs() < 0.1
    safe = torch.where(small, 1.0, logits)
    return torch.where(small, 0.5 + logits / 12 - logits**3 / 720, -1 / torch.expm1(-safe) - 1 / safe)


def _in_float32(outputs: Tensor) -> Tensor:
    """Undo the reduced precision of autocast, so that codes and losses are computed in full precision."""
    return outputs.float() if torch.is_autocast_enabled(outputs.device.type) else outputs


class Forward:
    """The forward pass of one batch, shared by all terms: each part is computed when first asked for, and once.

    Args:
        model: The model.
        images: The batch (B, C, H, W) in [0, 1].
        generator: The source of all random numbers in this pass, on the images' device.
        step: The step of training, from 0.
        steps: The number of steps of the whole training.
        dataset_size: The number of images in the data set, which some estimates of total correlation need.
        regroup: What changes the posteriors of pairs before codes are sampled; None for images that are not pairs.
        augment: What changes the images that the encoder sees; None leaves them as they are.
        second: A function that returns a second batch, for terms that need one; None if there is none.
    """

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
        augment: Augment | None = None,
        second: Callable[[], Tensor] | None = None,
    ) -> None:
        self.model, self.images = model, images  # (B, C, H, W) float in [0, 1]
        self.generator = generator  # the source of all random numbers in this pass, on the images' device
        self.step, self.steps, self.dataset_size = step, steps, dataset_size
        self._regroup, self._augment, self._second = regroup, augment, second

    @cached_property
    def targets(self) -> Tensor:
        """The images (B, C, H, W) that ``logits`` are compared with: standardised if the model is."""
        return self.model.standardise(self.images)

    @cached_property
    def code(self) -> Code:
        """The code of the batch."""
        seen = self.targets
        if self._augment is not None:
            seen = self.model.standardise(self._augment(self.images, self.generator))
        if self._regroup is None:
            return self.model.code_of_standardised(seen, self.generator)
        return self._regroup(self.model.code_of_standardised(seen), self.generator)

    @cached_property
    def hidden(self) -> tuple[Tensor, ...] | None:
        """The decoder's activations at the code, on which ``logits`` are based; None if it does not share them.

        A decoder shares them if it has ``finish``, which makes outputs of them. In reduced precision they are not
        shared, because differences need full precision.
        """
        shares = hasattr(self.model.decoder, "finish") and not torch.is_autocast_enabled(self.images.device.type)
        return self.model.activations(self.code.z) if shares else None

    @cached_property
    def logits(self) -> Tensor:
        """The decoder's outputs (B, C, H, W) at the code: Bernoulli logits, or Gaussian means."""
        return self.model.outputs(self.code.z, self.hidden)

    @cached_property
    def reconstructions(self) -> Tensor:
        """The outputs as images (B, C, H, W)."""
        return self.model.to_images(self.logits)

    @cached_property
    def second_codes(self) -> Tensor:
        """Codes (B, D) of a second batch of images, without gradients."""
        if self._second is None:
            raise InputError("this forward pass has no second batch of images.")
        with torch.no_grad():
            return self.model.code(self._second(), self.generator).z

    def some_rows(self, share: float) -> Tensor:
        """Sample this share of the batch's rows (n,) without replacement, at least one row; all rows are in order."""
        rows = len(self.images)
        n = max(1, round(share * rows))
        if n == rows:
            return torch.arange(rows, device=self.images.device)
        return torch.randperm(rows, generator=self.generator, device=self.images.device)[:n]
