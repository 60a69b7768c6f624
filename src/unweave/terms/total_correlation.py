"""Total correlation of the aggregate posterior q(z): are the latents independent? (beta-TCVAE)."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import torch
from torch import Tensor

from unweave.errors import InputError
from unweave.latents import Gaussian, Latent
from unweave.model import Forward
from unweave.terms.gaussians import log_density, posterior
from unweave.terms.term import Term


def total_correlation(z: Tensor, mean: Tensor, logvar: Tensor, *, log_weights: Tensor) -> Tensor:
    r"""Compute :math:`KL(q(z) \| \prod_j q(z_j))`, a scalar in nats; inputs (B, D), ``log_weights`` (B, B).

    q(z) at sample b is the sum over posteriors b' of the batch of :math:`w_{bb'} q(z_b | x_{b'})`, and likewise for
    each latent. The log-weights enter once for the joint density, after the sum over latents, and once for each
    marginal, so they do not cancel. Chen et al. 2018, sec. 3 and app. C.

    Args:
        z: Samples of the posteriors (B, D).
        mean: The means of the posteriors (B, D).
        logvar: The logarithms of their variances (B, D).
        log_weights: The logarithms of :math:`w_{bb'}` (B, B).

    Returns:
        A scalar in nats.
    """
    log_q = log_density(z[:, None], mean, logvar)  # (B, B, D): sample b under posterior b'
    log_joint = (log_q.sum(-1) + log_weights).logsumexp(1)  # (B,)
    log_marginals = (log_q + log_weights[..., None]).logsumexp(1)  # (B, D)
    return (log_joint - log_marginals.sum(-1)).mean()


def weighted_log_weights(batch_size: int, dataset_size: int, like: Tensor) -> Tensor:
    """Return log-weights (B, B) of minibatch weighting: log 1 / (B·N). Chen et al. 2018, sec. 3.1; biased."""
    return like.new_full((batch_size, batch_size), -math.log(batch_size * dataset_size))


def stratified_log_weights(batch_size: int, dataset_size: int, like: Tensor) -> Tensor:
    """Return log-weights (B, B) of minibatch stratified sampling; rows of weights sum to 1. Chen et al. 2018, app. C.1.

    With M = B − 1 other posteriors: log 1/N for a sample's own posterior, on the diagonal; log (N − M)/(N·M) for one
    other, that of the next row; log 1/M for the rest. The authors' code and its copies write the first two with a
    stride of B instead of B + 1, and so into columns 0 and 1; here they are where the formula has them.
    """
    others = batch_size - 1
    if not 1 <= others <= dataset_size:
        raise InputError(
            f"the stratified estimator needs a batch size from 2 to one more than the size of the data set, "
            f"got {batch_size} for {dataset_size} images: use estimator 'weighted' or another batch size."
        )
    weights = torch.full((batch_size, batch_size), 1 / others, dtype=torch.float64, device=like.device)
    own = torch.arange(batch_size, device=like.device)
    weights[own, own] = 1 / dataset_size
    weights[own, (own + 1) % batch_size] = (dataset_size - others) / (dataset_size * others)
    return weights.log().to(like)


WEIGHTS = {"weighted": weighted_log_weights, "stratified": stratified_log_weights}


class TotalCorrelation(Term):
    """The total correlation of the aggregate posterior, estimated from one batch."""

    title: ClassVar[str] = "the total correlation term"
    formula: ClassVar[str] = r"$\text{KL}(q(z) \| \prod_j q(z_j)) = E[\log q(z) - \sum_j \log q(z_j)]$"
    paper: ClassVar[str] = "Chen et al. 2018, sec. 3.1; stratified: app. C.1"
    latents: ClassVar[tuple[type[Latent], ...]] = (Gaussian,)
    why: ClassVar[str] = "its aggregate posterior is a mixture of Gaussian posteriors"
    estimator: Literal["weighted", "stratified"] = "weighted"

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the term from the sampled codes of the batch, for a data set of ``forward.dataset_size`` images."""
        mean, logvar = posterior(self.title, forward.code)
        z = forward.code.z
        log_weights = WEIGHTS[self.estimator](len(z), forward.dataset_size, z)
        return total_correlation(z, mean, logvar, log_weights=log_weights)
