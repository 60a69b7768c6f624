"""A representation: a trained model that encodes, decodes, and shows what its latents do."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from unweave.errors import InputError, unknown, whole
from unweave.factors import check_generator
from unweave.latents import Latent, Summary
from unweave.latents.latent import evenly, over_range
from unweave.model import Likelihood, Model

Over = Literal["auto", "quantile", "prior", "levels"]  # the range of a traversal
BATCH = 256  # images per forward pass
SLACK = 0.01  # how far images may be outside of [0, 1], as after resizing


class Representation:
    """Maps images to codes and back. Images are uint8, or floats in [0, 1]; results are on the CPU."""

    def __init__(self, model: Model, shape: tuple[int, int, int], title: str) -> None:
        self.model = model.eval()
        self._shape, self._title = shape, title

    @property
    def summary(self) -> Summary:
        """Statistics of each latent over the data."""
        raise NotImplementedError

    @property
    def discrete(self) -> bool:
        """Whether each latent takes one of a few values."""
        return self.model.latent.discrete

    @property
    def has_posterior(self) -> bool:
        """Whether an image is encoded to a Gaussian distribution, so that :meth:`posterior` is defined."""
        return self.model.latent.has_posterior

    @property
    def offers(self) -> set[str]:
        """The outputs that metrics can use besides codes: "reconstruction", and "posterior" where there is one."""
        return offers_of(self.model.latent)

    @property
    def likelihood(self) -> Likelihood:
        """The likelihood of the images given a code."""
        return self.model.likelihood

    def __call__(self, images: Tensor) -> Tensor:
        """Return the same as :meth:`encode`."""
        return self.encode(images)

    def encode(self, images: Tensor) -> Tensor:
        """Return the codes (B, D) of images (B, C, H, W), deterministically: posterior means, or quantised values."""
        return self._each(self._images(images), lambda part: self.model.code(part).representation)

    def posterior(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and log-variance (B, D) of the posterior of images (B, C, H, W)."""
        if not self.has_posterior:
            raise InputError(f"{self._title} has no posterior: its latent is not Gaussian.")

        def both(part: Tensor) -> Tensor:
            code = self.model.code(part)
            assert code.logvar is not None
            return torch.cat([code.continuous, code.logvar], dim=1)

        mean, logvar = self._each(self._images(images), both).chunk(2, dim=1)
        return mean, logvar

    def decode(self, codes: Tensor) -> Tensor:
        """Return images (B, C, H, W) in [0, 1] of codes (B, D)."""
        return self._each(self._codes(codes), self.model.decode).clamp(0, 1)

    def reconstruct(self, images: Tensor) -> Tensor:
        """Encode and decode images (B, C, H, W); the result is in [0, 1]."""
        return self.decode(self.encode(images))

    def jacobian(self, codes: Tensor) -> Tensor:
        """Return the derivatives (B, D, C, H, W) of the decoded images by each latent, at codes (B, D)."""
        directions = torch.eye(self.model.latent.size)

        def columns(part: Tensor) -> Tensor:
            with torch.enable_grad():
                part = part.requires_grad_()
                images = self.model.decode(part)
                # The gradient is linear in its weights, so its own gradient is the directional derivative.
                weight = torch.zeros_like(images, requires_grad=True)
                (gradient,) = torch.autograd.grad(images, part, weight, create_graph=True)
                derivatives = [
                    torch.autograd.grad(gradient, weight, d.to(part).expand_as(part), retain_graph=True)[0]
                    for d in directions
                ]
            return torch.stack(derivatives, dim=1)

        codes = self._codes(codes)
        if not len(codes):
            return codes.new_empty(0, self.model.latent.size, *self._shape)
        return self._each(codes, columns)

    def traversal_values(self, *, steps: int = 7, over: Over = "auto", span: float = 2.0) -> Tensor:
        """Return the values that each latent takes in a traversal, in figures and on the page as well.

        Args:
            steps: The number of values. A quantised latent takes each of its levels at most once, so there may be
                fewer.
            over: ``"levels"``, the levels of a quantised latent; ``"prior"``, from −span to span standard deviations
                of the prior of a Gaussian one; ``"quantile"``, from the 1 % to the 99 % quantile of the codes of any
                latent over the data. ``"auto"`` is the first of these that is defined.
            span: The number of standard deviations for ``"prior"``.

        Returns:
            The values (D, steps), in increasing order.
        """
        steps = whole("steps of a traversal", steps, at_least=2)
        if not isinstance(span, Real) or not math.isfinite(span) or span <= 0:
            raise InputError(f"span must be a positive number, got {span!r}.")
        if over == "auto":
            return self.model.latent.traversal(steps, span, self._statistics, self._learned).cpu()
        if over == "levels":
            levels = self.model.values
            if levels is None:
                raise InputError("over=levels needs quantised latents: use over=quantile, or over=prior if Gaussian.")
            return levels.detach().cpu()[:, evenly(levels.shape[1], steps)]
        if over == "prior":
            if not self.has_posterior:
                raise InputError(
                    "over=prior needs a Gaussian posterior: use over=quantile, or over=levels if quantised."
                )
            return torch.linspace(-span, span, steps).repeat(self.model.latent.size, 1)
        if over == "quantile":
            return over_range(*self.summary.range, steps)
        raise unknown("range", str(over), get_args(Over))

    def traverse(self, code: Tensor, *, steps: int = 7, over: Over = "auto", span: float = 2.0) -> Tensor:
        """Move each latent of a code (D,) over its range, and return the images (D, steps, C, H, W).

        Args:
            code: The code to start from (D,).
            steps: The number of values, as in :meth:`traversal_values`.
            over: The range, as in :meth:`traversal_values`.
            span: The number of standard deviations for ``"prior"``.

        Returns:
            The images (D, steps, C, H, W).
        """
        (code,) = self._codes(_tensor("a code", code)[None])
        values = self.traversal_values(steps=steps, over=over, span=span).to(code)  # (D, steps)
        latents, columns = values.shape
        codes = code.repeat(latents, columns, 1)  # (D, steps, D)
        codes[torch.arange(latents), :, torch.arange(latents)] = values
        images: Tensor = self.decode(codes.flatten(0, 1)).unflatten(0, (latents, columns))
        return images

    def sample(self, n: int, generator: torch.Generator) -> Tensor:
        """Return n images (n, C, H, W) of random codes: from the prior, or from the marginals over the data."""
        n, generator = whole("the number of images", n), check_generator(generator)
        codes = self.model.latent.sample(n, generator, self._statistics, self._learned)
        return self.decode(codes)

    @property
    def _statistics(self) -> Summary | None:
        """The summary where the latent needs one; a Gaussian has a prior and needs none."""
        return None if self.has_posterior else self.summary

    @property
    def _learned(self) -> dict[str, Tensor]:
        return {name: value.detach().cpu() for name, value in self.model.learned.items()}

    def _images(self, images: Tensor) -> Tensor:
        images = _tensor("images", images)
        if images.ndim != 4 or tuple(images.shape[1:]) != self._shape:
            shape = ", ".join(map(str, self._shape))
            raise InputError(f"{self._title} takes images (B, {shape}), got {tuple(images.shape)}.")
        if images.dtype != torch.uint8 and not images.is_floating_point():
            raise InputError(f"images must be uint8, or floats in [0, 1], got {images.dtype}.")
        images = images.float() / 255 if images.dtype == torch.uint8 else images.float()
        if images.numel() and not (images.min() >= -SLACK and images.max() <= 1 + SLACK):
            raise InputError(f"images must be in [0, 1], got {float(images.min()):.3g} to {float(images.max()):.3g}.")
        return images

    def _codes(self, codes: Tensor) -> Tensor:
        codes = _tensor("codes", codes).float()
        if codes.ndim != 2 or codes.shape[1] != self.model.latent.size:
            raise InputError(f"{self._title} takes codes (B, {self.model.latent.size}), got {tuple(codes.shape)}.")
        return codes

    @torch.no_grad()
    def _each(self, rows: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
        """Apply a function to rows, some at a time, on the model's device; the result is on the CPU."""
        device = next(self.model.parameters()).device
        parts = [function(part.to(device)).float().cpu().contiguous() for part in rows.split(BATCH)]
        return torch.cat(parts)


def offers_of(latent: Latent) -> set[str]:
    """Return what a representation with this latent offers to metrics besides codes."""
    return {"reconstruction", "posterior"} if latent.has_posterior else {"reconstruction"}


def _tensor(what: str, values: Any) -> Tensor:
    try:
        return torch.as_tensor(values).detach()
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{what} must be a tensor, got {type(values).__name__}.") from error
