"""DCI-ES: how little capacity does a predictor of each factor need, and how many latents are there for the factors?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.errors import InputError, whole
from unweave.metrics.estimators.parallel_fits import SKLEARN_PARALLEL, agreement, each_factor
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.inputs import (
    Codes,
    Factors,
    Floats,
    Labelled,
    LabelResult,
    check_single_precision,
    fit_and_test,
)
from unweave.metrics.scoring.vectors import Groups, columns_of
from unweave.settings import Count, Seed

DEPTHS = (1, 2, 3, 4, 8, 10, 12, 14, 16, 18, 20, 32)  # of the authors' forests


@dataclass(frozen=True, eq=False)
class DCIES(LabelResult):
    """Explicitness and size, the explicitness of each factor and the curves that it comes from."""

    explicitness: float
    size: float  # varying factors over latents
    per_factor: Floats  # (varying factors,), explicitness
    loss: Floats  # (varying factors, depths), the lowest test loss up to each depth

    @property
    def score(self) -> float:
        """Explicitness."""
        return self.explicitness


def dci_es(
    codes: Codes,
    factors: Factors,
    *,
    depths: Sequence[int] = DEPTHS,
    trees: Count = 100,
    kinds: Kinds = None,
    groups: Groups = None,
    test: tuple[Any, Any] | None = None,
    seed: Seed = 0,
) -> DCIES:
    r"""Compute explicitness and size (Eastwood et al. 2023), which complete disentanglement, completeness and
    informativeness.

    Random forests of growing depth :math:`\kappa` predict each factor. With the lowest test loss :math:`\ell` up to
    each depth, 1 minus accuracy or R², and the area A under :math:`\ell(\kappa) - \min \ell`, explicitness is
    :math:`1 - 2 A / ((\kappa_{max} - \kappa_{min}) \ell_0)`, where :math:`\ell_0` is the loss of a guess: 1 - 1 /
    classes, or 1 for numbers. It is 1 if the shallowest forest is as good as the deepest, 0 if the loss falls linearly,
    and negative if depth pays late. Codes without information are explicit, too: read it with the informativeness of
    :func:`unweave.metrics.dci`.

    Size is the number of factors over the number of latents. Constant factors are left out. The authors predict
    ordered factors as numbers, which ``kinds="continuous"`` of these factors does; their networks and random Fourier
    features as predictors are not offered.

    Args:
        codes: The codes (N, D).
        factors: The values of the factors (N, K), NaN or None where one is missing.
        depths: The largest depths of the trees, in increasing order.
        trees: The number of trees of each forest.
        kinds: The kind of each factor, as a list or by column; by default columns of floats are continuous.
        groups: The columns of each latent that is a vector, or the number of columns per latent; a vector counts as
            one latent for the size.
        test: Codes and factors of another sample, for the loss; by default the given sample is split.
        seed: The seed of the split and of the forests.

    Returns:
        Explicitness and size, with the loss of each factor at each depth.

    Examples:
        >>> import torch
        >>> from unweave.metrics import dci_es
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> result = dci_es(factors, factors, depths=[1, 2, 4, 8], trees=10)
        >>> round(result.explicitness, 2), result.size
        (0.85, 1.0)
    """
    steps = [whole("dci_es: depths", depth, at_least=1) for depth in depths]
    if len(steps) < 2 or steps != sorted(set(steps)):
        raise InputError(f"dci_es: depths must be at least two different ones in increasing order, got {steps}.")
    train, held_out = fit_and_test("dci_es", codes, factors, test, seed, kinds=kinds)
    check_single_precision("dci_es", train.codes, held_out.codes)
    latents = columns_of("dci_es", groups, train.codes.shape[1])
    rows = each_factor(lambda factor: _losses(train, held_out, factor, steps, trees, seed), train.varying)
    loss = np.minimum.accumulate(np.stack(rows), axis=1)  # (K, depths)
    classes = train.factors.max(0)[train.varying] + 1
    guess = np.where(train.continuous[train.varying], 1.0, 1 - 1 / classes)
    above = loss - loss.min(1, keepdims=True)
    area = ((above[:, 1:] + above[:, :-1]) / 2 * np.diff(steps)).sum(1)
    per_factor = 1 - 2 * area / ((steps[-1] - steps[0]) * guess)
    return DCIES(
        explicitness=float(per_factor.mean()),
        size=len(train.varying) / len(latents),
        per_factor=per_factor,
        loss=loss,
        missing=train.missing + held_out.missing,
    )


def _losses(train: Labelled, test: Labelled, factor: int, depths: list[int], trees: int, seed: int) -> Floats:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest = RandomForestRegressor if train.continuous[factor] else RandomForestClassifier
    (codes, truth), (test_codes, test_truth) = train.of(factor), test.of(factor)
    losses = []
    for depth in depths:
        with SKLEARN_PARALLEL:
            model = forest(trees, max_depth=depth, random_state=seed).fit(codes, truth)
            losses.append(1 - agreement(model.predict(test_codes), test_truth))
    return np.array(losses)
