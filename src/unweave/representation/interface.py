"""The interface of representations: codes of the images of a data set, and what can be done with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, Literal, NamedTuple, get_args

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import InputError, unknown, whole
from unweave.factors import check_generator
from unweave.latents import Summary
from unweave.latents.latent import evenly, over_range
from unweave.metrics import Follows, follows
from unweave.metrics.scoring.factor_kinds import kinds_of_data
from unweave.streams import stream

Over = Literal["auto", "quantile", "prior", "levels"]  # the range of a traversal
BATCH = 256  # images per forward pass
SLACK = 0.01  # how far images may be outside of [0, 1], as after resizing
LARGE = 1_000_000  # images, of which a random sample has hardly any twice
FOLLOWED = 5_000  # images from which it is computed which factors latents follow


class DrawnCodes(NamedTuple):
    """Codes (n, D) of random images, and their factors (n, K), None where they are not known."""

    codes: Tensor
    factors: Tensor | None


class Representation:
    """Codes of the images of a data set. Images are uint8, or floats in [0, 1]; results are on the CPU.

    A subclass sets ``title``, ``method`` and ``size``, and implements :meth:`data`, :attr:`summary` and what it can of
    :meth:`_encode`, :meth:`_decode` and :meth:`_posterior`. What it cannot do is refused with a sentence.
    """

    title: str  # in errors and headings, as in "the encoder mine:encode on dSprites"
    method: str  # a short name of how images are encoded: a recipe, a function, a file
    label: str = ""  # that the user gave
    hint: str = ""  # a sentence about what is wrong with it, if anything is
    seed: int = 0
    linear: bool = False  # whether it is fitted by linear algebra, so that the scale of its latents is arbitrary
    finished: bool = True  # whether it will not be trained further, so that its summary is known
    shape: tuple[int, int, int] | None = None  # (C, H, W) of the images that are accepted; None if any
    discrete: bool = False  # whether each latent takes one of a few values
    encodes: bool = False  # whether new images can be encoded
    decodes: bool = False  # whether codes can be turned into images
    has_posterior: bool = False  # whether an image is encoded to a Gaussian distribution

    @property
    def size(self) -> int:
        """The number of latents."""
        raise NotImplementedError

    @property
    def summary(self) -> Summary:
        """Statistics of each latent over the data."""
        raise NotImplementedError

    @property
    def levels(self) -> Tensor | None:
        """The values (D, levels) that each latent can take, in increasing order; None if it is continuous."""
        return None

    @property
    def name(self) -> str:
        """A name that tells it apart from others."""
        return self.method

    @property
    def data_label(self) -> str:
        """The name of the data, for titles."""
        return self.data().identity.label

    def data(self) -> FactorData:
        """Return the data that the codes belong to."""
        raise NotImplementedError

    def __call__(self, images: Tensor) -> Tensor:
        """Return the same as :meth:`encode`."""
        return self.encode(images)

    def encode(self, images: Tensor) -> Tensor:
        """Return the codes (B, D) of images (B, C, H, W), deterministically: posterior means, or quantised values."""
        if not self.encodes:
            raise InputError(f"{self.title} has no encoder, so new images have no codes.")
        return self._each(self._images(images), self._encode)

    def posterior(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and log-variance (B, D) of the posterior of images (B, C, H, W)."""
        if not self.has_posterior:
            raise InputError(f"{self.title} has no posterior: its latent is not Gaussian.")
        mean, logvar = self._each(self._images(images), lambda part: torch.cat(self._posterior(part), dim=1)).chunk(
            2, 1
        )
        return mean, logvar

    def decode(self, codes: Tensor) -> Tensor:
        """Return images (B, C, H, W) in [0, 1] of codes (B, D)."""
        if not self.decodes:
            raise InputError(
                f"{self.title} has no decoder, so its codes cannot be turned into images: use a run, or an encoder "
                "with a method decode(codes)."
            )
        return self._each(self._codes(codes), self._decode).clamp(0, 1)

    def reconstruct(self, images: Tensor) -> Tensor:
        """Encode and decode images (B, C, H, W); the result is in [0, 1]."""
        return self.decode(self.encode(images))

    def draw(self, n: int, generator: torch.Generator, data: FactorData | None = None) -> DrawnCodes:
        """Return the codes of n random images of the data, or of other data, with their factors.

        No image is drawn twice from data that has few: repeated rows would look like knowledge. There may be fewer.
        """
        data = self.data() if data is None else data
        if data.num_images > LARGE or (data.stochastic and not data.finite_table):
            images, factors = data.sample(n, generator)
            return DrawnCodes(self.encode(images), factors)
        index = torch.randperm(data.num_images, generator=generator)[:n]
        known = data.labels[index] if data.labels is not None else data.space.at(index) if data.has_factors else None
        return DrawnCodes(self.encode(data.rows(index, generator)), known)

    def follows(self, data: FactorData | None = None, *, samples: int = FOLLOWED, bins: int = 20) -> Follows | None:
        """Return which factor each latent follows, above chance; None if the factors are not known or do not vary.

        Figures, reports and the page show this result, from the same sample.
        """
        data = self.data() if data is None else data
        if not data.factor_names:
            return None
        samples = whole("samples", samples, at_least=2)
        (codes, factors), kinds = self.draw_labelled(samples, stream(0, "follows"), data)
        if factors is None or not (factors.nan_to_num() != factors.nan_to_num()[:1]).any():
            return None
        return follows(codes, factors, names=data.factor_names, discrete=self.discrete, bins=bins, kinds=kinds)

    def draw_labelled(
        self, n: int, generator: torch.Generator, data: FactorData
    ) -> tuple[DrawnCodes, Mapping[int, str] | None]:
        """Draw codes with their factors as scores take them, and return the kinds of the factors, None for a grid."""
        return self.draw(n, generator, data), kinds_of_data(data).declared or None

    def jacobian(self, codes: Tensor) -> Tensor:
        """Return the derivatives (B, D, C, H, W) of the decoded images by each latent, at codes (B, D)."""
        self.decode(codes[:0])  # refused where there is no decoder
        directions = torch.eye(self.size)

        def columns(part: Tensor) -> Tensor:
            with torch.enable_grad():
                part = part.requires_grad_()
                images = self._decode(part)
                if not images.requires_grad:
                    raise InputError(
                        f"the decoder of {self.title} passes no gradients to its codes: leave out torch.no_grad() and "
                        ".detach() in decode(codes) for its Jacobian."
                    )
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
            return codes.new_empty(0, self.size, *(self.shape or ()))
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
            return self._usual_values(steps, span, None)
        if over == "levels":
            levels = self.levels
            if levels is None:
                raise InputError("over=levels needs quantised latents: use over=quantile, or over=prior if Gaussian.")
            return levels[:, evenly(levels.shape[1], steps)]
        if over == "prior":
            if not self.has_posterior:
                raise InputError(
                    "over=prior needs a Gaussian posterior: use over=quantile, or over=levels if quantised."
                )
            return torch.linspace(-span, span, steps).repeat(self.size, 1)
        if over == "quantile":
            return over_range(*self.summary.range, steps)
        raise unknown("range", str(over), get_args(Over))

    def traversal_ends(self, span: float, summary: Summary | None) -> Tensor:
        """Return the first and last value (D, 2) of a traversal, with a summary other than the stored one."""
        return self._usual_values(2, span, summary)

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

    def sample_codes(self, n: int, generator: torch.Generator, summary: Summary | None = None) -> Tensor:
        """Return n random codes (n, D): from the prior, or each latent from its distribution over the data.

        A ``summary`` replaces the stored one, which a run in training does not have.
        """
        n, generator = whole("the number of images", n), check_generator(generator)
        noise = torch.randn(n, self.size, generator=generator)
        if self.has_posterior:
            return noise
        summary = summary or self.summary
        return torch.tensor(summary.mean) + torch.tensor(summary.std) * noise

    def sample(self, n: int, generator: torch.Generator) -> Tensor:
        """Return n images (n, C, H, W) of random codes; see :meth:`sample_codes`."""
        return self.decode(self.sample_codes(n, generator))

    def _usual_values(self, steps: int, span: float, summary: Summary | None) -> Tensor:
        """Return the values (D, columns) of a traversal, based on a summary or else on the stored one."""
        shown: Over = "levels" if self.levels is not None else "prior" if self.has_posterior else "quantile"
        return self.traversal_values(steps=steps, over=shown, span=span)

    def _encode(self, images: Tensor) -> Tensor:
        """Return the codes of a batch of float images."""
        raise NotImplementedError

    def _decode(self, codes: Tensor) -> Tensor:
        """Return the images of a batch of codes, differentiably."""
        raise NotImplementedError

    def _posterior(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and log-variance of a batch of float images."""
        raise NotImplementedError

    def _like(self) -> Tensor:
        """Return a tensor with the device and dtype that batches should have."""
        return torch.empty(())

    def _images(self, images: Tensor) -> Tensor:
        images = _tensor("images", images)
        if images.ndim != 4 or (self.shape is not None and tuple(images.shape[1:]) != self.shape):
            shape = "C, H, W" if self.shape is None else ", ".join(map(str, self.shape))
            raise InputError(f"{self.title} takes images (B, {shape}), got {tuple(images.shape)}.")
        if images.dtype != torch.uint8 and not images.is_floating_point():
            raise InputError(f"images must be uint8, or floats in [0, 1], got {images.dtype}.")
        images = images.float() / 255 if images.dtype == torch.uint8 else images.float()
        if images.numel() and not (images.min() >= -SLACK and images.max() <= 1 + SLACK):
            raise InputError(f"images must be in [0, 1], got {float(images.min()):.3g} to {float(images.max()):.3g}.")
        return images

    def _codes(self, codes: Tensor) -> Tensor:
        codes = _tensor("codes", codes).float()
        if codes.ndim != 2 or codes.shape[1] != self.size:
            raise InputError(f"{self.title} takes codes (B, {self.size}), got {tuple(codes.shape)}.")
        return codes

    @torch.no_grad()
    def _each(self, rows: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
        """Apply a function to rows, some at a time, on the device of the model; the result is on the CPU."""
        like = self._like()
        parts = [function(part.to(like)).float().cpu().contiguous() for part in rows.split(BATCH)]
        return torch.cat(parts)


def _tensor(what: str, values: Any) -> Tensor:
    try:
        return torch.as_tensor(values).detach()
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{what} must be a tensor, got {type(values).__name__}.") from error
