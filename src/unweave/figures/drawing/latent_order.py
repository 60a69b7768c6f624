"""The order of latents in a figure."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from unweave.errors import InputError
from unweave.training import Run

Order = Literal["auto", "kl", "spread", "entropy"]


def ordered_latents(run: Run, order: Order = "auto") -> tuple[list[int], str]:
    """Return the latents, the most informative first, and the name of what orders them.

    ``"kl"`` orders by the KL of the posterior from the prior, ``"entropy"`` by the entropy of the levels of a quantised
    latent, ``"spread"`` by the standard deviation over the data. ``"auto"`` is KL for a Gaussian posterior, entropy for
    quantised latents, and otherwise spread.
    """
    summary = run.summary
    if order == "kl":
        if summary.kl is None:
            raise InputError("order=kl needs a Gaussian posterior: use order=spread, or order=entropy if quantised.")
        summary = replace(summary, usage=None)
    elif order == "entropy":
        if summary.usage is None:
            raise InputError("order=entropy needs quantised latents: use order=spread or order=kl.")
        summary = replace(summary, kl=None)
    elif order == "spread":
        summary = replace(summary, kl=None, usage=None)
    return summary.order, summary.order_name
