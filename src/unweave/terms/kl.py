"""KL divergence of the posterior from a standard normal, the regulariser of VAEs and beta-VAEs."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from unweave.latents import Gaussian, Latent
from unweave.model import Forward
from unweave.terms.gaussians import kl_to_prior, posterior
from unweave.terms.reduction import Reduction, over_batch
from unweave.terms.term import Term


def kl_divergence(mean: Tensor, logvar: Tensor, *, reduction: Reduction = "sum") -> Tensor:
    r"""Compute the batch mean of :math:`\sum_j \frac12 (\mu_j^2 + \sigma_j^2 - \log \sigma_j^2 - 1)`, inputs (B, D).

    Kingma & Welling 2014, app. B; weighted by beta, Higgins et al. 2017, sec. 2. ``reduction="mean"`` over latents is
    the normalised form of Michlo et al. 2023, app. B.1, for use with a mean over pixels.
    """
    return over_batch(kl_to_prior(mean, logvar), reduction)


class KL(Term):
    """The KL divergence of the posterior from the prior."""

    title: ClassVar[str] = "the kl term"
    formula: ClassVar[str] = "KL(q(z | x) ‖ N(0, 1)) = Σⱼ ½ (μⱼ² + σⱼ² − log σⱼ² − 1)"
    paper: ClassVar[str] = "Kingma & Welling 2014, app. B; Higgins et al. 2017, sec. 2"
    latents: ClassVar[tuple[type[Latent], ...]] = (Gaussian,)
    why: ClassVar[str] = "a KL divergence needs a Gaussian posterior"
    reduction: Reduction = "sum"  # over latents

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the term from the posteriors of the batch."""
        return kl_divergence(*posterior(self.title, forward.code), reduction=self.reduction)
