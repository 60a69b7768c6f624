"""Disentanglement, completeness, informativeness: which latents does a predictor of each factor rely on?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from unweave.errors import InputError, unknown, whole
from unweave.metrics.estimators.boosting import boost_each
from unweave.metrics.estimators.parallel_fits import (
    SKLEARN_PARALLEL,
    agreement,
    allowed_workers,
    each_factor,
    linear_svm,
)
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.inputs import (
    TRAIN,
    Codes,
    Factors,
    Floats,
    Labelled,
    LabelResult,
    check_single_precision,
    fit_and_test,
    standardised,
    usable_groups,
)
from unweave.metrics.scoring.vectors import Groups, columns_of, summed
from unweave.settings import Count, Seed

IMPORTANCES = ("gbt", "gbt-exact", "forest", "svm")


@dataclass(frozen=True, eq=False)
class DCI(LabelResult):
    """The three scores, and the importance of each latent for each factor."""

    disentanglement: float
    completeness: float
    informativeness: float  # mean test accuracy, R² for continuous factors
    informativeness_train: float
    per_latent: Floats  # (D,), disentanglement
    per_factor: Floats  # (varying factors,), completeness
    importance: Floats  # (D, varying factors)

    @property
    def score(self) -> float:
        """Disentanglement, which is what papers mean by an unqualified "DCI"."""
        return self.disentanglement


def dci(
    codes: Codes,
    factors: Factors,
    *,
    importance: Literal["gbt", "gbt-exact", "forest", "svm"] = "gbt",
    completeness: Literal["weighted", "mean"] = "weighted",
    train: Count = TRAIN,
    kinds: Kinds = None,
    groups: Groups = None,
    test: tuple[Any, Any] | None = None,
    seed: Seed = 0,
) -> DCI:
    """Compute one minus the entropy of the importance matrix, per latent and per factor (Eastwood & Williams 2018).

    Disentanglement is the mean over latents weighted by their share of the importance. Constant factors are left out.
    If nothing has any importance (constant codes), disentanglement and completeness are 0. With a single latent (or
    factor), completeness (or disentanglement) is 1 wherever there is importance.

    Args:
        codes: The codes (N, D).
        factors: The values of the factors (N, K).
        importance: The predictor that the importance matrix comes from:

            - ``"gbt"``: gradient boosting with scikit-learn's default settings, as in disentanglement_lib, by a faster
              implementation (:mod:`unweave.metrics.estimators.boosting`); ``"gbt-exact"`` is scikit-learn itself;
            - ``"forest"``: a random forest of 100 trees of depth 10 with the entropy criterion on standardised codes,
              as in Tripod. Unless ``test`` is given, a random tenth of the sample is held out, also by
              :func:`unweave.score`;
            - ``"svm"``: a linear SVM with an L1 penalty on standardised codes, as in Locatello et al. 2019; the
              importance is the mean over classes of the absolute weights.
        completeness: ``"weighted"`` weights factors by their share of the importance, as in disentanglement_lib;
            ``"mean"`` is their plain mean, as in Locatello et al. 2019, appendix B. The two differ for ``"svm"`` only:
            for trees, every factor has the same share.
        train: The largest number of rows to fit; from more, as many are drawn at random.
        kinds: The kind of each factor, as a list or by column; by default columns of floats are continuous. For
            these, trees are fitted with squared error, the SVM is replaced by Lasso regression with a cross-validated
            penalty, and informativeness is R².
        groups: The columns of each latent that is a vector, or the number of columns per latent; their importances are
            summed.
        test: Codes and factors of another sample, for informativeness; by default the given sample is split.
        seed: The seed of the split and of the fits.

    Returns:
        Disentanglement, completeness and informativeness, with the importance matrix.

    Examples:
        >>> import torch
        >>> from unweave.metrics import dci
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> result = dci(factors, factors)
        >>> round(result.disentanglement, 2), round(result.completeness, 2), result.informativeness
        (1.0, 1.0, 1.0)
    """
    if importance not in IMPORTANCES:
        raise unknown("importance", importance, IMPORTANCES)
    if completeness not in ("weighted", "mean"):
        raise InputError(f"dci: completeness must be 'weighted' or 'mean', got {completeness!r}.")
    share = 0.1 if importance == "forest" else 1 / 3  # held out if no test sample is given
    most = whole("dci: train", train, at_least=1)
    fitted, held_out = fit_and_test(
        "dci", codes, factors, test, seed, kinds=kinds, test_share=share, most=most, sparse=importance == "gbt"
    )
    columns = columns_of("dci", usable_groups("dci", fitted.codes, groups), fitted.codes.shape[1])
    used = sorted(column for group in columns for column in group)
    if len(used) < fitted.codes.shape[1]:  # others are part of no latent
        fitted, held_out = (replace(each, codes=each.codes[:, used]) for each in (fitted, held_out))
        columns = [[used.index(column) for column in group] for group in columns]
    if importance == "gbt":
        rows = _boosting(fitted, held_out, seed)
    else:
        if importance == "gbt-exact":
            check_single_precision("dci", fitted.codes, held_out.codes)
        fit = {"gbt-exact": _exact_boosting, "forest": _forest, "svm": _svm}[importance]
        classes = fitted.factors.max(0)[fitted.varying] + 1
        rows = each_factor(lambda factor: fit(fitted, held_out, factor, seed), fitted.varying, costs=classes)
    matrix = summed(np.stack([row[0] for row in rows], axis=1), columns)  # (D, K)
    per_latent, per_factor = _purity(matrix, axis=1), _purity(matrix, axis=0)
    total = matrix.sum()
    weights = matrix.sum(0) if completeness == "weighted" else np.ones(matrix.shape[1])
    return DCI(
        disentanglement=float((per_latent * matrix.sum(1)).sum() / total) if total > 0 else 0.0,
        completeness=float(np.average(per_factor, weights=weights)) if total > 0 else 0.0,
        informativeness=float(np.mean([row[2] for row in rows])),
        informativeness_train=float(np.mean([row[1] for row in rows])),
        per_latent=per_latent,
        per_factor=per_factor,
        importance=matrix,
        missing=fitted.missing + held_out.missing,
    )


def _purity(matrix: Floats, axis: int) -> Floats:
    """Return one minus the entropy of the shares along an axis over the maximum entropy; 0 if there are none."""
    if matrix.shape[axis] == 1:
        return np.asarray(matrix.sum(axis) > 0, np.float64)
    total = matrix.sum(axis, keepdims=True)
    share = np.divide(matrix, total, out=np.full_like(matrix, 1 / matrix.shape[axis]), where=total > 0)
    entropy = -(share * np.log(share, out=np.zeros_like(share), where=share > 0)).sum(axis)
    return np.asarray(1 - entropy / np.log(matrix.shape[axis]))


Row = tuple[Floats, float, float]  # importance (D,), accuracy or R² on the train and on the test sample


def _boosting(train: Labelled, test: Labelled, seed: int) -> list[Row]:
    pairs = [(train.of(factor), test.of(factor)) for factor in train.varying.tolist()]
    jobs = [(codes, truth, test_codes) for (codes, truth), (test_codes, _) in pairs]
    fitted = boost_each(jobs, seed=seed, workers=allowed_workers())
    return [
        (model.importance, agreement(model.train, truth), agreement(model.test, test_truth))
        for model, ((_, truth), (_, test_truth)) in zip(fitted, pairs, strict=True)
    ]


def _exact_boosting(train: Labelled, test: Labelled, factor: int, seed: int) -> Row:
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    kind = GradientBoostingRegressor if train.continuous[factor] else GradientBoostingClassifier
    return _tree_row(kind(random_state=seed), train.of(factor), test.of(factor))


def _forest(train: Labelled, test: Labelled, factor: int, seed: int) -> Row:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    if train.continuous[factor]:
        forest = RandomForestRegressor(100, max_depth=10, random_state=seed)
    else:
        forest = RandomForestClassifier(100, criterion="entropy", max_depth=10, random_state=seed)
    x, x_test = standardised(train.codes, test.codes)
    with SKLEARN_PARALLEL:
        return _tree_row(forest, train.of(factor, x), test.of(factor, x_test))


def _tree_row(model: Any, train: tuple[Floats, Any], test: tuple[Floats, Any]) -> Row:
    model.fit(*train)
    right = [agreement(model.predict(codes), truth) for codes, truth in (train, test)]
    return np.abs(model.feature_importances_), right[0], right[1]


def _svm(train: Labelled, test: Labelled, factor: int, seed: int) -> Row:
    from sklearn.linear_model import LassoCV

    x, x_test = standardised(train.codes, test.codes)
    pairs = train.of(factor, x), test.of(factor, x_test)
    if train.continuous[factor]:
        with SKLEARN_PARALLEL:
            model = LassoCV(cv=5, random_state=seed).fit(*pairs[0])
    else:
        model = linear_svm(*pairs[0], C=1.0, penalty="l1", dual=False, random_state=seed)
    right = [agreement(model.predict(codes), truth) for codes, truth in pairs]
    return np.abs(np.atleast_2d(model.coef_)).mean(0), right[0], right[1]
