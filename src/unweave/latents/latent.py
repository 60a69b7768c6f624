"""A latent: how an encoder's outputs become the code that a decoder is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from pydantic import Field
from torch import Tensor

from unweave.errors import InputError
from unweave.latents.summary import Summary
from unweave.settings import Settings


@dataclass(frozen=True, eq=False)
class Code:
    """The code of one batch; each tensor is (B, D)."""

    z: Tensor  # the input of the decoder; gradients reach the encoder through it
    continuous: Tensor  # before noise or quantisation: the mean of a posterior, or the values before rounding
    logvar: Tensor | None = None  # of a Gaussian posterior
    logscale: Tensor | None = None  # of a Laplace posterior
    quantised: Tensor | None = None  # the chosen values, with a gradient to the codebook but not to the encoder
    indices: Tensor | None = None  # int64, the index of the value that each latent takes

    @property
    def representation(self) -> Tensor:
        """The deterministic representation of the images: the mean, or the chosen values."""
        return self.continuous if self.quantised is None else self.quantised


class Latent(Settings):
    """A latent space of ``size`` latents. A latent of your own defines at least :meth:`code`."""

    size: int = Field(default=10, ge=1, le=100_000)

    @property
    def outputs(self) -> int:
        """The number of encoder outputs per image."""
        return self.size

    @property
    def discrete(self) -> bool:
        """Whether each latent takes one of finitely many values."""
        return self.values(self.start()) is not None

    @property
    def has_posterior(self) -> bool:
        """Whether codes have a mean and a log-variance."""
        return self.code(torch.zeros(1, self.outputs), self.start()).logvar is not None

    def start(self) -> dict[str, Tensor]:
        """Return the initial values of the parameters of the latent space itself."""
        return {}

    def code(self, outputs: Tensor, learned: Mapping[str, Tensor], generator: torch.Generator | None = None) -> Code:
        """Return the code of an encoder's outputs (B, outputs); deterministic if ``generator`` is None."""
        raise NotImplementedError

    def values(self, learned: Mapping[str, Tensor]) -> Tensor | None:
        """Return the values that each latent can take (D, levels), in increasing order; None if it is continuous."""
        return None

    def traversal(self, steps: int, span: float, summary: Summary | None, learned: Mapping[str, Tensor]) -> Tensor:
        """Return the values (D, columns) that each latent takes in a traversal.

        A continuous latent takes ``steps`` values, evenly spaced from the 1 % to the 99 % quantile of its codes. A
        discrete latent takes all of its values, or ``steps`` of them if it has more.

        Args:
            steps: The number of values.
            span: For latents with a prior, the range in standard deviations on either side of 0.
            summary: The distribution of the codes over the data, if it is known.
            learned: The tensors that the latent has learned, such as a codebook, by their name.

        Returns:
            The values (D, columns).
        """
        values = self.values(learned)
        if values is not None:
            return values.cpu()[:, evenly(values.shape[1], steps)]
        return over_range(*_of(self, summary).range, steps)

    def sample(
        self, n: int, generator: torch.Generator, summary: Summary | None, learned: Mapping[str, Tensor]
    ) -> Tensor:
        """Sample codes (n, D): each latent independently, from its distribution over the data.

        A continuous latent is sampled from a Gaussian with its mean and standard deviation, a discrete one from its
        values in proportion to their usage.

        Args:
            n: The number of codes.
            generator: The source of randomness.
            summary: The distribution of the codes over the data, if it is known.
            learned: The tensors that the latent has learned, such as a codebook, by their name.

        Returns:
            The codes (n, D).
        """
        values = self.values(learned)
        if values is None:
            noise = torch.randn(n, self.size, generator=generator)
            return _means(self, summary).T + _stds(self, summary).T * noise
        usage = torch.tensor(_of(self, summary).usage)
        chosen = torch.multinomial(usage, max(n, 1), replacement=True, generator=generator)  # (D, n)
        return values.cpu().gather(1, chosen).T[:n]


def straight_through(continuous: Tensor, quantised: Tensor) -> Tensor:
    """Return the quantised values with the gradient of the continuous ones (Bengio et al. 2013)."""
    return quantised.detach() + (continuous - continuous.detach())


def evenly(count: int, at_most: int) -> Tensor:
    """Return increasing indices below ``count``, evenly spaced from first to last, ``at_most`` of them.

    >>> evenly(12, 5).tolist(), evenly(3, 7).tolist()
    ([0, 3, 6, 8, 11], [0, 1, 2])
    """
    if at_most >= count or at_most < 2:
        return torch.arange(min(count, at_most))
    gaps = at_most - 1
    return (torch.arange(at_most) * (2 * (count - 1)) + gaps) // (2 * gaps)  # rounded to nearest, without repetition


def over_range(low: Tensor, high: Tensor, steps: int) -> Tensor:
    """Return ``steps`` values (D, steps), evenly spaced from ``low`` (D,) to ``high`` (D,)."""
    return low[:, None] + (high - low)[:, None] * torch.linspace(0, 1, steps)


def _of(latent: Latent, summary: Summary | None) -> Summary:
    if summary is None:
        raise InputError(f"{latent.title} needs a summary of its codes over the data, which a finished run has.")
    return summary


def _means(latent: Latent, summary: Summary | None) -> Tensor:
    return torch.tensor(_of(latent, summary).mean)[:, None]  # (D, 1)


def _stds(latent: Latent, summary: Summary | None) -> Tensor:
    return torch.tensor(_of(latent, summary).std)[:, None]  # (D, 1)
