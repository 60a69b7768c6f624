"""The FactorVAE score: when a factor is fixed, is it always the same latent that varies least?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.factors import FactorSpace
from unweave.metrics.scoring.chosen_points import Represent, check_positive
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.draws import FreshCodes, Pool, draws
from unweave.metrics.scoring.inputs import Booleans, Codes, Factors, Floats, Integers, LabelResult, dead
from unweave.metrics.scoring.vectors import Groups
from unweave.settings import Count, NonNegative, Seed, Several


@dataclass(frozen=True, eq=False)
class FactorVAEScore(LabelResult):
    """Accuracy of the majority vote on new votes and on its own votes, and the table of its votes."""

    score: float
    train: float
    votes: Integers  # (K, D)
    active: Booleans  # (D,)


def factor_vae_score(
    represent: Represent | Codes,
    space: FactorSpace | Factors,
    *,
    train: Count = 10_000,
    test: Count = 5_000,
    batch: Several = 64,
    variance_points: Count = 10_000,
    threshold: NonNegative = 0.05,
    kinds: Kinds = None,
    groups: Groups = None,
    seed: Seed = 0,
) -> FactorVAEScore:
    """Compute the accuracy of predicting the fixed factor from the latent that varies least, by majority vote.

    Kim & Mnih 2018. For each vote, points that share one factor are drawn; the vote goes to the latent with the
    smallest variance relative to its variance over random points. Constant latents always are left out; with the
    default of disentanglement_lib's code they win every vote. If no latent is left, the score is 0.

    Args:
        represent: A function from points (n, K) of the space to codes (n, D), as published; or codes (N, D).
        space: The space to draw points from; or the factors (N, K) of the codes, which form a pool to draw from.
        train: The number of votes that the majority is taken of.
        test: The number of votes that the accuracy is measured on.
        batch: The number of points of a vote.
        variance_points: The number of random points that the variance of each latent is measured on.
        threshold: Latents with a standard deviation below it are left out, as in disentanglement_lib; the text of
            Locatello et al. 2019 says a variance below 0.05, which is ``threshold=0.2236``.
        kinds: The kind of each factor of the codes, as a list or by column; continuous ones are put into 20 bins of
            equal counts.
        groups: The columns of each latent of the codes that is a vector, or the number of columns per latent; each is
            replaced by its first principal component.
        seed: The seed of the points.

    Returns:
        The accuracy on the test votes and on the votes of the majority, and the table of votes.

    Examples:
        >>> import torch
        >>> from unweave.metrics import factor_vae_score
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> factor_vae_score(factors, factors, train=200, test=100, batch=16).score
        1.0
        >>> factor_vae_score(torch.zeros(200, 2), factors, train=200, test=100, batch=16).score  # constant codes
        0.0
    """
    check_positive("factor_vae_score", train=train, test=test, batch=batch, variance_points=variance_points)
    source = draws("factor_vae_score", represent, space, seed, kinds=kinds, groups=groups)
    codes, _ = source.sample(max(2, variance_points))
    variance = codes.var(0, ddof=1)  # (D,)
    active = (np.sqrt(variance) >= threshold) & ~dead(codes)
    if not active.any():
        return FactorVAEScore(
            0.0, 0.0, np.zeros((source.factors, len(variance)), np.int64), active, missing=source.missing
        )
    relative = np.where(active, variance, np.nan)
    own, new = (_votes(source, n, batch, relative) for n in (train, test))
    winner = own.argmax(0)  # (D,), the factor that each latent votes for
    accuracy = [float(votes[winner, np.arange(len(winner))].sum() / votes.sum()) for votes in (new, own)]
    return FactorVAEScore(accuracy[0], accuracy[1], own, active, missing=source.missing)


def _votes(source: FreshCodes | Pool, votes: int, batch: int, variance: Floats) -> Integers:
    """Count how often each latent varied least while each factor was fixed, (K, D)."""
    table = np.zeros((source.factors, len(variance)), np.int64)
    for some in source.batches(votes, batch):
        axes = source.random_axes(some)
        codes = source.held(axes, batch)  # (votes, batch, D)
        stillest = np.nanargmin(codes.var(1, ddof=1) / variance, axis=1)
        np.add.at(table, (axes, stillest), 1)
    return table
