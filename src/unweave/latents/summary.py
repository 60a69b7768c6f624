"""Statistics of each latent over the data, which traversals, samples and rankings of latents are based on."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Summary:
    """Statistics of the codes of a sample of the data; each list has one entry per latent."""

    mean: list[float]
    std: list[float]
    kl: list[float] | None  # nats, of a Gaussian posterior from the prior
    usage: list[list[float]] | None  # the share of images that take each value of a quantised latent

    @property
    def order(self) -> list[int]:
        """The latents by decreasing information: their KL, the entropy of their values, or their spread."""
        if self.kl is not None:
            information = torch.tensor(self.kl)
        elif self.usage is not None:
            information = torch.special.entr(torch.tensor(self.usage)).sum(1)
        else:
            information = torch.tensor(self.std)
        order: list[int] = information.argsort(descending=True, stable=True).tolist()
        return order

    @property
    def order_name(self) -> str:
        """What ``order`` ranks latents by, for titles: "KL", "entropy" or "standard deviation"."""
        if self.kl is not None:
            return "KL"
        return "entropy" if self.usage is not None else "standard deviation"
