"""The latents in a figure: their order, and the values that each of them takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from torch import Tensor

from unweave.errors import InputError
from unweave.representation import Over, Representation

Order = Literal["auto", "kl", "spread", "entropy"]
STEPS = 11  # values of a continuous latent
MOST_LEVELS = 24  # of a quantised latent; more would be too small to see


def ordered_latents(run: Representation, order: Order = "auto") -> tuple[list[int], str]:
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


def latent_values(
    run: Representation, *, steps: int | None = None, over: Over = "auto", span: float = 2.0
) -> tuple[Tensor, str]:
    """Return the values (D, columns) of a traversal, and a phrase that says what they range over.

    By default, there are 11 values of a continuous latent and up to 24 levels of a quantised one.
    """
    levels = run.levels
    if over == "auto":
        shown = "levels" if levels is not None else "prior" if run.has_posterior else "quantile"
    else:
        shown = over
    if steps is None:
        steps = MOST_LEVELS if shown == "levels" else STEPS
    values = run.traversal_values(steps=steps, over=over, span=span)
    if shown == "levels" and levels is not None:
        every = values.shape[1] == levels.shape[1]
        return values, "each level once" if every else f"{values.shape[1]} of {levels.shape[1]} levels"
    if shown == "prior":
        return values, f"±{span:g} standard deviations of the prior"
    return values, "1 % to 99 % quantile of the data"


def moved(code: Tensor, latent: int, values: Tensor) -> Tensor:
    """Return the code (D,) once for each of the values (columns,) of one latent: (columns, D)."""
    codes = code.repeat(len(values), 1)
    codes[:, latent] = values
    return codes
