"""Which latents come first in a figure, and which of them do not depend on the image."""

from __future__ import annotations

from typing import Literal

import torch

from unweave.errors import InputError
from unweave.latents import Summary
from unweave.training import Run

Order = Literal["auto", "kl", "spread", "entropy"]
LEAST_VARIANCE = 0.01  # of the posterior mean over the data (Burda et al. 2016)
LEAST_KL = 0.1  # nats; decoders ignore latents with less
LARGEST_SHARE = 0.99  # of images that take the same level of a quantised latent
LEAST_SPREAD = 0.05  # of a deterministic latent, as a fraction of the largest spread


def ordered_latents(run: Run, order: Order = "auto") -> tuple[list[int], str]:
    """Return the latents, the most informative first, and the name of what orders them.

    ``"kl"`` orders by the KL of the posterior from the prior, ``"entropy"`` by the entropy of the levels of a quantised
    latent, ``"spread"`` by the standard deviation over the data. ``"auto"`` is KL for a Gaussian posterior, entropy for
    quantised latents, and otherwise spread.
    """
    summary = run.summary
    if order == "auto":
        return summary.order, summary.order_name
    if order == "kl":
        if summary.kl is None:
            raise InputError("order=kl needs a Gaussian posterior: use order=spread, or order=entropy if quantised.")
        return _descending(torch.tensor(summary.kl)), "KL"
    if order == "entropy":
        if summary.usage is None:
            raise InputError("order=entropy needs quantised latents: use order=spread or order=kl.")
        return _descending(torch.special.entr(torch.tensor(summary.usage)).sum(1)), "entropy"
    return _descending(torch.tensor(summary.std)), "standard deviation"


def active_latents(summary: Summary) -> list[bool]:
    """Return for each latent whether it depends on the image.

    A Gaussian latent is active if the variance of its mean over the data is above 0.01 (Burda et al. 2016) and, which
    is our own condition, its KL is at least 0.1 nats. A quantised one is inactive if at least 99 % of images take the
    same level. Any other latent is active if its standard deviation
    is above a twentieth of the largest.
    """
    if summary.kl is not None:
        return [s**2 > LEAST_VARIANCE and kl >= LEAST_KL for s, kl in zip(summary.std, summary.kl, strict=True)]
    if summary.usage is not None:
        return [max(shares) < LARGEST_SHARE for shares in summary.usage]
    return [std > LEAST_SPREAD * max(summary.std) for std in summary.std]


def _descending(values: torch.Tensor) -> list[int]:
    order: list[int] = values.argsort(descending=True, stable=True).tolist()
    return order
