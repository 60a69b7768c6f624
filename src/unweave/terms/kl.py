"""KL divergence of the posterior from the prior, the regulariser of VAEs and beta-VAEs."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from unweave.latents import Gaussian, Laplace, Latent
from unweave.model import Forward
from unweave.terms.gaussians import kl_to_prior, posterior
from unweave.terms.term import Reduction, Term, over_batch


def kl_divergence(mean: Tensor, logvar: Tensor, *, reduction: Reduction = "sum") -> Tensor:
    r"""Compute the batch mean of :math:`\sum_j \frac12 (\mu_j^2 + \sigma_j^2 - \log \sigma_j^2 - 1)`, inputs (B, D).

    Kingma & Welling 2014, app. B; weighted by beta, Higgins et al. 2017, sec. 2. ``reduction="mean"`` over latents is
    the normalised form of Michlo et al. 2023, app. B.1, for use with a mean over pixels.
    """
    return over_batch(kl_to_prior(mean, logvar), reduction)


def laplace_kl(location: Tensor, logscale: Tensor) -> Tensor:
    r"""Compute the KL of Laplace posteriors from the standard Laplace prior per latent, in nats (B, D).

    :math:`|\mu| + b e^{-|\mu| / b} - 1 - \log b`, with the scale b.
    """
    distance = location.abs()
    return distance + (logscale - distance * (-logscale).exp()).exp() - 1 - logscale


class KL(Term):
    """The KL divergence of the posterior from the prior."""

    title: ClassVar[str] = "the kl term"
    formula: ClassVar[str] = (  # for the gaussian latent
        r"$\text{KL}(q(z \mid x) \| N(0, 1)) = \sum_j \frac12 (\mu_j^2 + \sigma_j^2 - \log \sigma_j^2 - 1)$"
    )
    paper: ClassVar[str] = "Kingma & Welling 2014, app. B; Higgins et al. 2017, sec. 2"
    latents: ClassVar[tuple[type[Latent], ...]] = (Gaussian, Laplace)
    why: ClassVar[str] = "a KL divergence needs a Gaussian or Laplace posterior"
    reduction: Reduction = "sum"  # over latents

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the term from the posteriors of the batch."""
        code = forward.code
        if code.logscale is not None:
            return over_batch(laplace_kl(code.continuous, code.logscale), self.reduction)
        return kl_divergence(*posterior(self.title, code), reduction=self.reduction)
