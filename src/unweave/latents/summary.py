"""Statistics of each latent over the data, which traversals, samples and rankings of latents are based on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from unweave.metrics.posterior import ACTIVE_VARIANCE

TAIL = 0.01  # a latent ranges from the quantile TAIL of its codes to 1 − TAIL
NORMAL_TAIL = 2.3263  # standard deviations from the mean of a normal distribution to the quantile 1 − TAIL
LARGEST_SHARE = 0.99  # of images that take the same level of an inactive quantised latent, at least
LEAST_SPREAD = 0.05  # of an active deterministic latent, as a fraction of the largest standard deviation


@dataclass(frozen=True)
class Summary:
    """Statistics of the codes of a sample of the data; each list has one entry per latent."""

    mean: list[float]
    std: list[float]
    kl: list[float] | None  # nats, of a Gaussian or Laplace posterior from the prior
    usage: list[list[float]] | None  # the share of images that take each value of a quantised latent
    low: list[float] | None = None  # the quantile 0.01; None for runs that were trained before it was stored
    high: list[float] | None = None  # the quantile 0.99

    @classmethod
    def of_codes(cls, codes: Tensor, *, kl: list[float] | None = None, levels: Tensor | None = None) -> Summary:
        """Return the statistics of codes (N, D); ``levels`` (D, levels) are the values of quantised latents."""
        usage = None
        if levels is not None:
            nearest = (codes[:, :, None] - levels).abs().argmin(-1)  # (N, D), among the sorted values
            counts = torch.stack([row.bincount(minlength=levels.shape[1]) for row in nearest.T]).double()
            usage = (counts / len(codes)).tolist()
        low, high = np.quantile(codes.numpy(), [TAIL, 1 - TAIL], axis=0)
        return cls(codes.mean(0).tolist(), codes.std(0).tolist(), kl, usage, low.tolist(), high.tolist())

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
        """Whether each latent depends on the image: the rule of figures, reports and the page.

        A Gaussian latent is active if the variance of its mean over the data is above 0.01 (Burda et al. 2016), as in
        :func:`unweave.metrics.active_units`. A quantised one is inactive if at least 99 % of images take the same
        level. Any other latent is active if its standard deviation is above a twentieth of the largest.
        """
        if self.kl is not None:
            return [std**2 > ACTIVE_VARIANCE for std in self.std]
        if self.usage is not None:
            return [max(shares) < LARGEST_SHARE for shares in self.usage]
        return [std > LEAST_SPREAD * max(self.std) for std in self.std]

    @property
    def range(self) -> tuple[Tensor, Tensor]:
        """The 1 % and 99 % quantiles (D,) of the codes of each latent; those of a normal distribution if not stored."""
        if self.low is not None and self.high is not None:
            return torch.tensor(self.low), torch.tensor(self.high)
        mean, reach = torch.tensor(self.mean), NORMAL_TAIL * torch.tensor(self.std)
        return mean - reach, mean + reach
