"""Kernel-based latent multiinformation: are deterministic latents independent of one another? (Tripod, KLM)."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import torch
from torch import Tensor

from unweave.model import Forward
from unweave.terms.gaussians import log_density
from unweave.terms.term import Term, batch_scale


def kernel_multiinformation(z: Tensor, scale: Tensor) -> Tensor:
    r"""Compute the mean over codes ``z`` (B, D) of :math:`\log q(z) - \sum_j \log q(z_j)`, a scalar in nats.

    Densities are estimated by Gaussian kernels on all codes of the batch, including the code itself. The joint density
    has Silverman's bandwidths, ``scale`` (D,) times :math:`(4 / ((D + 2) B))^{1 / (D + 4)}`; a marginal has the scale
    itself. Tripod (Hsu et al. 2024), sec. 3.2, eq. 11 to 14. As the bandwidths differ, independent latents do not give
    0.
    """
    rows, latents = z.shape
    log_joint = log_kernels(z, z, silverman(rows, latents) * scale).sum(-1).logsumexp(1)  # (B,)
    log_marginals = log_kernels(z, z, scale).logsumexp(1)  # (B, D)
    log_rows = math.log(rows)
    return (log_joint - log_rows - (log_marginals - log_rows).sum(-1)).mean()


def silverman(rows: int, latents: int) -> float:
    """Return the bandwidth of a joint density of codes (rows, latents) as a multiple of the scale of each latent."""
    return float((4 / ((latents + 2) * rows)) ** (1 / (latents + 4)))


def log_kernels(points: Tensor, z: Tensor, bandwidth: Tensor) -> Tensor:
    """Compute the logarithm (N, B, D) of each Gaussian kernel on the codes z (B, D) at points (N, D)."""
    return log_density(points[:, None], z, 2 * bandwidth.log())


class KernelMultiinformation(Term):
    """The multiinformation of the codes of a batch, after quantisation.

    As in the authors' code the gradient reaches the encoder through the codes and through their scale.
    """

    title: ClassVar[str] = "the kernel multiinformation term"
    formula: ClassVar[str] = r"$E[\log q(z) - \sum_j \log q(z_j)]$, $q$ by Gaussian kernels on the codes of the batch"
    paper: ClassVar[str] = "Tripod (Hsu et al. 2024), sec. 3.2, eq. 11 to 14"
    bandwidth: Literal["scaled", "fixed"] = "scaled"  # by the standard deviation of each latent, or 1 (naive Tripod)

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the term from the codes of the batch."""
        code = forward.code
        scale = batch_scale(code.continuous) if self.bandwidth == "scaled" else torch.ones_like(code.z[0])
        return kernel_multiinformation(code.z, scale)
