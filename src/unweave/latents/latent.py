"""A latent: how an encoder's outputs become the code that a decoder is given, and its statistics over the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from unweave.errors import InputError
from unweave.metrics.infomec import active_by_quartiles, interquartile_ranges
from unweave.metrics.posterior import ACTIVE_VARIANCE
from unweave.metrics.scoring.inputs import Floats
from unweave.settings import Settings

TAIL = 0.01  # a latent ranges from the quantile TAIL of its codes to 1 − TAIL
NORMAL_TAIL = 2.3263  # standard deviations from the mean of a normal distribution to the quantile 1 − TAIL
NORMAL_QUARTILES = 1.349  # standard deviations between the quartiles of a normal distribution


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
        """Return whether each latent takes one of finitely many values."""
        return self.values(self.start()) is not None

    @property
    def has_posterior(self) -> bool:
        """Return whether codes have a mean and a log-variance."""
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


@dataclass(frozen=True)
class Summary:
    """Statistics of the codes of a sample of the data; each list has one entry per latent."""

    mean: list[float]
    std: list[float]
    kl: list[float] | None  # nats, of a Gaussian or Laplace posterior from the prior
    usage: list[list[float]] | None  # the share of images that take each value of a quantised latent
    low: list[float] | None = None  # the quantile 0.01; None for runs that were trained before it was stored
    high: list[float] | None = None  # the quantile 0.99
    spread: list[float] | None = None  # the interquartile range; None as above
    discrete: bool = False  # whether codes take few values, also where ``usage`` is not known

    @classmethod
    def of_codes(
        cls, codes: Tensor, *, kl: list[float] | None = None, levels: Tensor | None = None, discrete: bool = False
    ) -> Summary:
        """Return the statistics of codes.

        Args:
            codes: The codes (N, D).
            kl: The KL of the posterior of each latent from the prior, where there is one.
            levels: The values (D, levels) of quantised latents.
            discrete: Whether each latent takes one of a few values, also if they are not given.

        Returns:
            The statistics of each latent.
        """
        usage = None
        if levels is not None:
            nearest = (codes[:, :, None] - levels).abs().argmin(-1)  # (N, D), among the sorted values
            counts = torch.stack([row.bincount(minlength=levels.shape[1]) for row in nearest.T]).double()
            usage = (counts / len(codes)).tolist()
        low, high = np.quantile(codes.numpy(), [TAIL, 1 - TAIL], axis=0)
        spread = interquartile_ranges(codes.double().numpy()).tolist()
        mean, std, discrete = codes.mean(0).tolist(), codes.std(0).tolist(), discrete or levels is not None
        return cls(mean, std, kl, usage, low.tolist(), high.tolist(), spread, discrete)

    @property
    def information(self) -> list[float]:
        """The ranking criterion of latents: their KL, the entropy of their values, or their standard deviation."""
        if self.kl is not None:
            return self.kl
        if self.usage is not None:
            return torch.special.entr(torch.tensor(self.usage)).sum(1).tolist()  # type: ignore[no-any-return]
        return self.std

    @property
    def order(self) -> list[int]:
        """The latents by decreasing :attr:`information`."""
        order: list[int] = torch.tensor(self.information).argsort(descending=True, stable=True).tolist()
        return order

    @property
    def order_name(self) -> str:
        """The name of :attr:`information`, for titles: "KL", "entropy" or "standard deviation"."""
        if self.kl is not None:
            return "KL"
        return "entropy" if self.usage is not None else "standard deviation"

    @property
    def active(self) -> list[bool]:
        """Return whether each latent is active: the rule of InfoMEC (Hsu et al. 2024), figures, reports and the page.

        A latent is active if its interquartile range over the data is above a tenth of the largest, or above 0.1 if
        codes are discrete. Two cases have nothing to compare: if a posterior has collapsed, so that no mean has a
        variance above 0.01 (Burda et al. 2016), no latent is active; if the quartiles of every continuous latent
        coincide, as those of sparse codes do, all that vary are.
        """
        ranges = self._interquartile_ranges()
        if self.collapsed:
            return [False] * len(ranges)
        discrete = self.discrete or self.usage is not None
        if not discrete and not ranges.any():
            return [std > 0 for std in self.std]
        return [bool(latent) for latent in active_by_quartiles(ranges, discrete=discrete)]

    @property
    def collapsed(self) -> bool:
        """Return whether no latent of a posterior depends on the image: no mean has a variance above 0.01."""
        return self.kl is not None and max(self.std) ** 2 <= ACTIVE_VARIANCE

    def _interquartile_ranges(self) -> Floats:
        """Return the interquartile range (D,) of each latent, or an estimate for runs without a stored one."""
        if self.spread is not None:
            return np.array(self.spread)
        if self.usage is not None:  # the number of levels between the quartiles, which are 0.1 apart or more
            below = np.cumsum(self.usage, axis=1)[:, :, None] < [0.25, 0.75]
            return np.asarray(np.diff(below.sum(1), axis=1)[:, 0], np.float64)
        return NORMAL_QUARTILES * np.array(self.std)

    @property
    def range(self) -> tuple[Tensor, Tensor]:
        """The 1 % and 99 % quantiles (D,) of the codes of each latent; those of a normal distribution if not stored."""
        if self.low is not None and self.high is not None:
            return torch.tensor(self.low), torch.tensor(self.high)
        mean, reach = torch.tensor(self.mean), NORMAL_TAIL * torch.tensor(self.std)
        return mean - reach, mean + reach
