"""A trained model as a representation: it encodes, decodes, and shows what its latents do."""

from __future__ import annotations

import torch
from torch import Tensor

from unweave.errors import whole
from unweave.factors import check_generator
from unweave.latents import Latent, Summary
from unweave.model import Likelihood, Model
from unweave.representation.interface import Representation


class TrainedModel(Representation):
    """Maps images to codes and back."""

    encodes = decodes = True

    def __init__(self, model: Model, shape: tuple[int, int, int], title: str) -> None:
        self.model = model.eval()
        self.shape, self.title = shape, title

    @property
    def size(self) -> int:
        """The number of latents."""
        return self.model.latent.size

    @property
    def levels(self) -> Tensor | None:
        """The values (D, levels) that each quantised latent can take, in increasing order; None if it is continuous."""
        return None if self.model.values is None else self.model.values.detach().cpu()

    @property
    def discrete(self) -> bool:  # type: ignore[override]
        """Whether each latent takes one of a few values."""
        return self.model.latent.discrete

    @property
    def has_posterior(self) -> bool:  # type: ignore[override]
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

    def sample_codes(self, n: int, generator: torch.Generator, summary: Summary | None = None) -> Tensor:
        """Return n random codes (n, D): from the prior, or each latent from its distribution over the data."""
        n, generator = whole("the number of images", n), check_generator(generator)
        return self.model.latent.sample(n, generator, summary or self._statistics, self._learned)

    def _encode(self, images: Tensor) -> Tensor:
        return self.model.code(images).representation

    def _decode(self, codes: Tensor) -> Tensor:
        return self.model.decode(codes)

    def _posterior(self, images: Tensor) -> tuple[Tensor, Tensor]:
        code = self.model.code(images)
        assert code.logvar is not None
        return code.continuous, code.logvar

    def _usual_values(self, steps: int, span: float, summary: Summary | None) -> Tensor:
        return self.model.latent.traversal(steps, span, summary or self._statistics, self._learned).cpu()

    @property
    def _statistics(self) -> Summary | None:
        """The summary where the latent needs one; a Gaussian has a prior and needs none."""
        return None if self.has_posterior else self.summary

    @property
    def _learned(self) -> dict[str, Tensor]:
        return {name: value.detach().cpu() for name, value in self.model.learned.items()}

    def _like(self) -> Tensor:
        return torch.empty((), device=next(self.model.parameters()).device)


def offers_of(latent: Latent) -> set[str]:
    """Return what a representation with this latent offers to metrics besides codes."""
    return {"reconstruction", "posterior"} if latent.has_posterior else {"reconstruction"}
