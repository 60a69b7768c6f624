"""Disentanglement, completeness, informativeness: which latents does a predictor of each factor lean on?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from unweave.errors import unknown
from unweave.metrics.boosting import boost_each
from unweave.metrics.fitting import each_factor
from unweave.metrics.inputs import Codes, Factors, Floats, Labelled, fit_and_test, standardised

IMPORTANCES = ("gbt", "gbt-exact", "forest", "svm")


@dataclass(frozen=True, eq=False)
class DCI:
    """Three scores, and the importance of each latent for each factor."""

    disentanglement: float
    completeness: float
    informativeness: float  # mean test accuracy
    informativeness_train: float
    per_latent: Floats  # (D,), disentanglement
    per_factor: Floats  # (varying factors,), completeness
    importance: Floats  # (D, varying factors)

    @property
    def score(self) -> float:
        """Disentanglement, which is what papers call "DCI" without more."""
        return self.disentanglement


def dci(
    codes: Codes,
    factors: Factors,
    *,
    importance: Literal["gbt", "gbt-exact", "forest", "svm"] = "gbt",
    test: tuple[Any, Any] | None = None,
    seed: int = 0,
) -> DCI:
    """One minus the entropy of the importance matrix along each latent and each factor (Eastwood & Williams 2018).

    ``importance`` is the predictor it comes from:

    - ``"gbt"``, gradient boosting with scikit-learn's defaults, as in disentanglement_lib; here within 0.02 of
      scikit-learn's and many times as fast (:mod:`unweave.metrics.boosting`); ``"gbt-exact"``, scikit-learn itself;
    - ``"forest"``, 100 trees of depth 10 by entropy on standardised codes, as in Tripod; a tenth is held out;
    - ``"svm"``, a linear SVM with an L1 penalty on standardised codes, the mean over classes of its absolute weights,
      as in Locatello et al. 2019.

    Latents and factors are weighted by their share of the importance. Constant factors are left out. Where nothing is
    of any importance (dead codes), disentanglement and completeness are 0. With one latent (or one factor) there is
    nothing to be spread over: completeness (or disentanglement) is 1 wherever there is importance.
    """
    if importance not in IMPORTANCES:
        raise unknown("importance", importance, IMPORTANCES)
    share = 0.1 if importance == "forest" else 1 / 3  # what is held out where no test sample is given
    train, held_out = fit_and_test("dci", codes, factors, test, seed, test_share=share)
    if importance == "gbt":
        rows = _boosting(train, held_out, seed)
    else:
        fit = {"gbt-exact": _exact_boosting, "forest": _forest, "svm": _svm}[importance]
        classes = train.factors.max(0)[train.varying] + 1
        rows = each_factor(lambda factor: fit(train, held_out, factor, seed), train.varying, costs=classes)
    matrix = np.stack([row[0] for row in rows], axis=1)  # (D, K)
    per_latent, per_factor = _purity(matrix, axis=1), _purity(matrix, axis=0)
    total = matrix.sum()
    return DCI(
        disentanglement=float((per_latent * matrix.sum(1)).sum() / total) if total > 0 else 0.0,
        completeness=float((per_factor * matrix.sum(0)).sum() / total) if total > 0 else 0.0,
        informativeness=float(np.mean([row[2] for row in rows])),
        informativeness_train=float(np.mean([row[1] for row in rows])),
        per_latent=per_latent,
        per_factor=per_factor,
        importance=matrix,
    )


def _purity(matrix: Floats, axis: int) -> Floats:
    """One minus the entropy of the shares along an axis, in units of the greatest entropy there is; 0 for no share."""
    if matrix.shape[axis] == 1:
        return np.asarray(matrix.sum(axis) > 0, np.float64)
    total = matrix.sum(axis, keepdims=True)
    share = np.divide(matrix, total, out=np.full_like(matrix, 1 / matrix.shape[axis]), where=total > 0)
    entropy = -(share * np.log(share, out=np.zeros_like(share), where=share > 0)).sum(axis)
    return np.asarray(1 - entropy / np.log(matrix.shape[axis]))


Row = tuple[Floats, float, float]  # importance (D,), accuracy on the train and on the test sample


def _boosting(train: Labelled, test: Labelled, seed: int) -> list[Row]:
    truth = [(train.factors[:, factor], test.factors[:, factor]) for factor in train.varying]
    fitted = boost_each([(train.codes, labels, test.codes) for labels, _ in truth], seed=seed)
    return [
        (model.importance, float(np.mean(model.train == labels)), float(np.mean(model.test == test_labels)))
        for model, (labels, test_labels) in zip(fitted, truth, strict=True)
    ]


def _exact_boosting(train: Labelled, test: Labelled, factor: int, seed: int) -> Row:
    from sklearn.ensemble import GradientBoostingClassifier

    return _tree_row(GradientBoostingClassifier(random_state=seed), train, test, factor)


def _forest(train: Labelled, test: Labelled, factor: int, seed: int) -> Row:
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(100, criterion="entropy", max_depth=10, random_state=seed)
    x, x_test = standardised(train.codes, test.codes)
    return _tree_row(forest, Labelled(x, train.factors), Labelled(x_test, test.factors), factor)


def _tree_row(model: Any, train: Labelled, test: Labelled, factor: int) -> Row:
    model.fit(train.codes, train.factors[:, factor])
    right = [float(np.mean(model.predict(s.codes) == s.factors[:, factor])) for s in (train, test)]
    return np.abs(model.feature_importances_), right[0], right[1]


def _svm(train: Labelled, test: Labelled, factor: int, seed: int) -> Row:
    from sklearn.svm import LinearSVC

    x, x_test = standardised(train.codes, test.codes)
    model = LinearSVC(C=1.0, penalty="l1", dual=False, random_state=seed).fit(x, train.factors[:, factor])
    right = [float(np.mean(model.predict(c) == s.factors[:, factor])) for c, s in ((x, train), (x_test, test))]
    return np.abs(model.coef_).mean(0), right[0], right[1]
