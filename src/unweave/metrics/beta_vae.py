"""The BetaVAE score: can a linear classifier tell which factor pairs of images have in common?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.factors import FactorSpace
from unweave.metrics.estimators.parallel_fits import each_factor, logistic_regression
from unweave.metrics.scoring.chosen_points import Represent, check_positive
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.draws import FreshCodes, Pool, draws
from unweave.metrics.scoring.inputs import Codes, Factors, Integers, LabelResult
from unweave.metrics.scoring.sparse_codes import SparseCodes
from unweave.metrics.scoring.vectors import Groups
from unweave.settings import Count, Seed, Several


@dataclass(frozen=True, eq=False)
class BetaVAEScore(LabelResult):
    """Accuracy on new votes (``score``) and on the votes that the classifier was fitted to (``train``)."""

    score: float
    train: float


def beta_vae_score(
    represent: Represent | Codes,
    space: FactorSpace | Factors,
    *,
    train: Count = 10_000,
    test: Count = 5_000,
    batch: Several = 64,
    kinds: Kinds = None,
    groups: Groups = None,
    seed: Seed = 0,
) -> BetaVAEScore:
    """Compute the accuracy of predicting which factor pairs share, from their mean absolute difference.

    Higgins et al. 2017. Each vote is a batch of pairs that agree in one randomly drawn factor. The classifier is
    scikit-learn's default logistic regression, as in Locatello et al. 2019. Chance level is one over the number of
    factors. Factors with a single value are never drawn, as nothing distinguishes them.

    Args:
        represent: A function from points (n, K) of the space to codes (n, D), as published; or codes (N, D).
        space: The space to draw points from; or the factors (N, K) of the codes, which form a pool to draw from.
        train: The number of votes that the classifier is fitted to.
        test: The number of votes that the accuracy is measured on.
        batch: The number of pairs of a vote.
        kinds: The kind of each factor of the codes, as a list or by column; continuous ones are put into 20 bins of
            equal counts.
        groups: The columns of each latent of the codes that is a vector, or the number of columns per latent; each is
            replaced by its first principal component.
        seed: The seed of the points.

    Returns:
        The accuracy on the test votes, and that on the votes of the fit.

    Examples:
        >>> import torch
        >>> from unweave.metrics import beta_vae_score
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> beta_vae_score(factors, factors, train=200, test=100).score
        1.0
    """
    check_positive("beta_vae_score", train=train, test=test, batch=batch)
    source = draws("beta_vae_score", represent, space, seed, kinds=kinds, groups=groups, sparse=True)
    (x, y), (x_test, y_test) = (_votes(source, n, batch) for n in (train, test))
    if len(np.unique(y)) < 2:
        return BetaVAEScore(float(np.mean(y_test == y[0])), 1.0, missing=source.missing)
    (model,) = each_factor(lambda _: logistic_regression(x, y), [0])
    return BetaVAEScore(float(model.score(x_test, y_test)), float(model.score(x, y)), missing=source.missing)


def _votes(source: FreshCodes | Pool, votes: int, batch: int) -> tuple[Any, Integers]:
    """Return mean absolute differences (votes, D), sparse if codes are, and the shared factors (votes,)."""
    features, labels = [], []
    sparse = isinstance(source, Pool) and isinstance(source.codes, SparseCodes)
    for some in source.batches(votes, 2 * batch):
        axes = source.random_axes(some)
        labels.append(axes)
        if sparse:
            assert isinstance(source, Pool)
            features.append(_sparse_differences(source, axes, batch))
            continue
        codes = source.held(axes.repeat(batch), 2)  # (votes · batch, 2, D): a pair is a batch of two
        difference = np.abs(codes[:, 0] - codes[:, 1]).reshape(some, batch, -1)
        features.append(difference.mean(1))
    if sparse:
        from scipy.sparse import vstack

        return vstack(features, format="csr"), np.concatenate(labels)
    return np.concatenate(features), np.concatenate(labels)


def _sparse_differences(source: Pool, axes: Integers, batch: int) -> Any:
    """Return the mean absolute differences (votes, D) of pairs of sparse codes that share a factor."""
    from scipy.sparse import csr_array

    rows = source.held_rows(axes.repeat(batch), 2)  # (votes · batch, 2)
    difference = abs(source.codes.matrix[rows[:, 0]] - source.codes.matrix[rows[:, 1]])
    pairs = np.arange(len(rows))
    mean = csr_array((np.full(len(rows), 1 / batch), (pairs // batch, pairs)), shape=(len(axes), len(rows)))
    return mean @ difference
