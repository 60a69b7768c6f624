from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.svm import LinearSVC

from tests.metrics.samples import factors, mixed
from unweave.errors import InputError
from unweave.metrics import dci
from unweave.metrics.scoring.inputs import standardised


@pytest.mark.parametrize("importance", ["gbt", "forest", "svm"])
def test_scores_follow_from_the_importance_matrix(importance: str) -> None:
    codes, labels = mixed(400)
    result = dci(codes, labels, importance=importance)  # type: ignore[arg-type]
    matrix = result.importance
    per_latent = 1 - entropy(matrix.T + 1e-11, base=3)
    per_factor = 1 - entropy(matrix + 1e-11, base=4)
    assert result.disentanglement == pytest.approx((per_latent * matrix.sum(1)).sum() / matrix.sum(), abs=1e-6)
    assert result.completeness == pytest.approx((per_factor * matrix.sum(0)).sum() / matrix.sum(), abs=1e-6)
    assert result.score == result.disentanglement
    assert result.informativeness > 0.6


def test_fast_and_exact_boosting_agree() -> None:
    codes, labels = mixed(400)
    fast, exact = dci(codes, labels), dci(codes, labels, importance="gbt-exact")
    assert fast.disentanglement == pytest.approx(exact.disentanglement, abs=0.02)
    assert fast.completeness == pytest.approx(exact.completeness, abs=0.02)
    assert fast.informativeness == pytest.approx(exact.informativeness, abs=0.02)


@pytest.mark.slow
def test_exact_boosting_gives_disentanglement_libs_score() -> None:
    """A golden case, by scikit-learn itself: half a minute."""
    golden = Path(__file__).parents[1] / "fixtures" / "golden"
    expected = json.loads((golden / "dlib.json").read_text())["mixed-noisy"]["dci_gbt"]
    with np.load(golden / "mixed-noisy.npz") as file:
        test = file["codes_test"], file["factors_test"]
        result = dci(file["codes_train"], file["factors_train"], importance="gbt-exact", test=test)
    assert result.disentanglement == pytest.approx(expected["disentanglement"], abs=0.005)
    assert result.completeness == pytest.approx(expected["completeness"], abs=0.005)
    assert result.informativeness == pytest.approx(expected["informativeness_test"], abs=0.005)


def test_svm_importance_is_the_mean_weight() -> None:
    codes, labels = mixed(300)
    test = codes[:10], labels[:10]
    (x,) = standardised(codes)
    model = LinearSVC(C=1.0, penalty="l1", dual=False, random_state=0).fit(x, labels[:, 1])
    found = dci(codes, labels, importance="svm", test=test).importance[:, 1]
    np.testing.assert_allclose(found, np.abs(model.coef_).mean(0), rtol=1e-3, atol=1e-4)


def test_dead_codes_and_single_latents_are_defined() -> None:
    labels = factors(200)
    dead = dci(np.zeros((200, 3)), labels)
    assert (dead.disentanglement, dead.completeness) == (0.0, 0.0)
    single = dci(labels[:, :1].astype(float), labels)
    assert single.completeness == 1.0
    assert single.disentanglement < 0.5  # what little boosting finds of the other factors is shared out evenly


def test_an_unknown_predictor_is_refused() -> None:
    with pytest.raises(InputError, match="unknown importance 'gtb': did you mean 'gbt'"):
        dci(*mixed(50), importance="gtb")  # type: ignore[arg-type]


def test_completeness_is_a_plain_mean_by_name() -> None:
    codes, labels = mixed(400)
    weighted, plain = dci(codes, labels, importance="svm"), dci(codes, labels, importance="svm", completeness="mean")
    assert plain.completeness == pytest.approx(float(plain.per_factor.mean()))
    assert abs(plain.completeness - weighted.completeness) > 0.002
    assert plain.disentanglement == weighted.disentanglement
    trees = [dci(codes, labels, importance="forest", completeness=c).completeness for c in ("mean", "weighted")]
    assert trees[0] == pytest.approx(trees[1])
    with pytest.raises(InputError, match="completeness must be 'weighted' or 'mean', got 'median'"):
        dci(codes, labels, completeness="median")  # type: ignore[arg-type]


def test_fewer_rows_are_fitted_if_asked() -> None:
    (x, y), (x_test, y_test) = mixed(600, seed=1), mixed(200, seed=3)
    rows = np.sort(np.random.default_rng(0).choice(600, 150, replace=False))
    few = dci(x, y, train=150, test=(x_test, y_test))
    np.testing.assert_array_equal(few.importance, dci(x[rows], y[rows], test=(x_test, y_test)).importance)
    assert few.disentanglement != dci(x, y, test=(x_test, y_test)).disentanglement
    split = dci(x, y, train=150)  # a third is held out, as always
    order = np.random.RandomState(42).permutation(600)
    again = dci(x[order[200:350]], y[order[200:350]], test=(x[order[:200]], y[order[:200]]))
    np.testing.assert_array_equal(split.importance, again.importance)
    with pytest.raises(InputError, match="train must be a whole number of at least 1"):
        dci(x, y, train=0)
