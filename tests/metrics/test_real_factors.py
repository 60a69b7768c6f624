"""Factors that are real numbers, and factors with gaps: against scikit-learn, closed forms and rows dropped by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.feature_selection import mutual_info_regression
from sklearn.linear_model import LinearRegression, Ridge

import unweave
from tests.metrics.samples import mixed
from unweave import metrics
from unweave.errors import InputError
from unweave.metrics import METRICS
from unweave.metrics.estimators.boosting import boost_each
from unweave.metrics.estimators.neighbours import kraskov_information, separated, vector_information
from unweave.metrics.scoring.inputs import Floats, standardised

CODES, LABELS = mixed(600)
RNG = np.random.default_rng(3)
REAL = RNG.normal(size=(600, 3))
MIXED = REAL @ (np.eye(3) + 0.2) + 0.2 * RNG.normal(size=(600, 3))
QUICK: dict[str, dict[str, Any]] = {
    "downstream": {"sizes": (100, 300)},
    "beta_vae_score": {"train": 300, "test": 200},
    "factor_vae_score": {"train": 300, "test": 200},
}
TAKES = [name for name, metric in METRICS.items() if metric.needs in ("labels", "pool")]


def scored(name: str, codes: Any, factors: Any, **settings: Any) -> Any:
    return METRICS[name].function(codes, factors, **QUICK.get(name, {}), **settings)


def gaussians(correlation: float, n: int) -> tuple[Floats, Floats]:
    x, noise = np.random.default_rng(0).normal(size=(2, n, 1))
    return x, correlation * x + np.sqrt(1 - correlation**2) * noise


@pytest.mark.parametrize("neighbours", [3, 10])
def test_kraskov_is_scikit_learns(neighbours: int) -> None:
    x, y = gaussians(0.7, 500)
    rng = np.random.default_rng(1)
    ours = kraskov_information(separated(x, rng), separated(y, rng), neighbours=neighbours)
    assert ours == pytest.approx(mutual_info_regression(x, y[:, 0], n_neighbors=neighbours)[0], abs=1e-9)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_jointly_gaussian_variables_have_known_information(correlation: float) -> None:
    x, y = gaussians(correlation, 4000)
    exact = -0.5 * np.log(1 - correlation**2)
    assert kraskov_information(x, y, neighbours=5) == pytest.approx(exact, abs=0.04)
    result = metrics.infomec(x, y)
    assert result.nmi[0, 0] == pytest.approx(correlation**2, abs=0.04)
    assert result.explicitness == pytest.approx(correlation**2, abs=0.03)
    binned = metrics.mig(x, y, bins=40, factor_bins=40).mutual_information[0, 0]
    assert binned == pytest.approx(exact, abs=0.2)  # the bias of 1,600 cells


def test_vectors_have_the_information_of_both_columns() -> None:
    """Two columns, each the factor with its own noise: together a squared correlation of 2 s / (1 + s), s = 0.5."""
    factor, *noise = np.random.default_rng(0).normal(size=(3, 4000, 1))
    both = np.hstack([factor + each for each in noise])
    exact = -0.5 * np.log(1 - 2 / 3)
    assert kraskov_information(both, factor, neighbours=5) == pytest.approx(exact, abs=0.05)
    quarters = np.digitize(factor[:, 0], np.quantile(factor, [0.25, 0.5, 0.75]))
    alone = [vector_information(each, quarters, neighbours=5) for each in (both[:, :1], both[:, 1:])]
    together = vector_information(both, quarters, neighbours=5)
    assert max(alone) < together < np.log(4)
    assert together == pytest.approx(_gaussian_classes(both, quarters), abs=0.03)


def _gaussian_classes(vectors: Floats, classes: Any) -> float:
    """The information by the densities of the classes, estimated on a fine grid of the sum, which is sufficient."""
    total, information = vectors.sum(1), 0.0
    bins = np.digitize(total, np.quantile(total, np.linspace(0, 1, 41)[1:-1]))
    for value in np.unique(classes):
        for cell in range(40):
            joint = np.mean((classes == value) & (bins == cell))
            if joint > 0:
                information += joint * np.log(joint / (np.mean(classes == value) * np.mean(bins == cell)))
    return information - 39 * 3 / (2 * len(classes))  # the bias of the counts (Miller & Madow)


def test_boosting_of_numbers_is_scikit_learns() -> None:
    x, y, new = MIXED, REAL[:, 0] * 7 + 100, RNG.normal(size=(50, 3))
    (ours,) = boost_each([(x, y, new)], seed=0)
    theirs = GradientBoostingRegressor(random_state=0).fit(standardised(x)[0].astype(np.float32), y)
    np.testing.assert_allclose(ours.importance, theirs.feature_importances_, atol=2e-3)
    np.testing.assert_allclose(ours.train, theirs.predict(standardised(x)[0].astype(np.float32)), atol=0.2)
    assert len(ours.test) == 50
    (still,) = boost_each([(x, np.full(600, 2.5), new)], seed=0)
    assert (still.test == 2.5).all()


@pytest.mark.parametrize("importance", ["gbt", "gbt-exact", "forest", "svm"])
def test_dci_of_numbers_finds_the_latent_of_each(importance: Any) -> None:
    codes = REAL[:, [2, 0, 1]]
    result = metrics.dci(codes[:400], REAL[:400], test=(codes[400:], REAL[400:]), importance=importance)
    assert result.importance.argmax(0).tolist() == [1, 2, 0]
    assert result.disentanglement > 0.95
    assert result.informativeness > 0.85


def test_explicitness_of_numbers_is_the_fit_of_ridge_regression() -> None:
    result = metrics.explicitness(MIXED[:400], REAL[:400], test=(MIXED[400:], REAL[400:]))
    train, test = standardised(MIXED[:400], MIXED[400:])
    for factor in range(3):
        model = Ridge().fit(train, REAL[:400, factor])
        assert result.per_factor[factor] == pytest.approx(model.score(test, REAL[400:, factor]), abs=1e-12)
    linear = LinearRegression().fit(MIXED, REAL[:, 1])
    expected = metrics.infomec(MIXED, REAL).explicitness_per_factor[1]
    assert expected == pytest.approx(linear.score(MIXED, REAL[:, 1]), abs=1e-12)


def test_sap_has_the_method_of_each_kind() -> None:
    table = np.column_stack([REAL[:, 0], LABELS[:, 1]])
    codes = np.hstack([MIXED, CODES])
    kinds = ["continuous", "ordered"]
    both = metrics.sap(codes[:400], table[:400], test=(codes[400:], table[400:]), kinds=kinds).predictability
    classes = metrics.sap(codes[:400], LABELS[:400, 1], test=(codes[400:], LABELS[400:, 1])).predictability
    np.testing.assert_array_equal(both[:, 1], classes[:, 0])
    np.testing.assert_allclose(both[:, 0], np.corrcoef(codes[:400].T, REAL[:400, 0])[-1, :-1] ** 2, atol=1e-12)
    with pytest.raises(InputError, match="method='svm' compares classes, but factor 0 is continuous"):
        metrics.sap(codes, table, method="svm", kinds=kinds)


@pytest.mark.parametrize("name", [name for name in TAKES if name != "mcc"])
def test_a_grid_declared_ordered_stays_what_it_is(name: str) -> None:
    grid = LABELS * 0.25 + 0.1
    expected = scored(name, CODES, LABELS)
    assert scored(name, CODES, grid, kinds=["ordered"] * 3).score == expected.score
    assert scored(name, CODES, grid, kinds={0: "ordered", 1: "categorical", 2: "ordered"}).score == expected.score
    few_values_are_bins = METRICS[name].continuous == METRICS["mig"].continuous
    part = "explicitness" if name == "edi" else "score"  # EDI's score has ratios of information only
    assert (getattr(scored(name, CODES, grid), part) == getattr(expected, part)) == few_values_are_bins
    assert expected.missing.tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", TAKES)
@pytest.mark.parametrize("factors", ["numbers", "classes"])
def test_a_missing_value_leaves_its_row_out_of_its_factor(name: str, factors: str) -> None:
    codes, table = (MIXED, REAL) if factors == "numbers" else (CODES, LABELS.astype(np.float64))
    holes = table.copy()
    holes[100:130, 1] = np.nan
    kinds = {} if name == "mcc" else {"kinds": ["continuous" if factors == "numbers" else "ordered"] * 3}
    result = scored(name, codes, holes, **kinds)
    assert result.missing.tolist() == [0, 30, 0]
    assert abs(result.score - scored(name, codes, table, **kinds).score) < 0.12
    objects = table.astype(object if factors == "numbers" else int).astype(object)
    objects[100:130, 1] = None
    assert scored(name, codes, objects).score == result.score


def test_mig_with_gaps_is_that_of_the_other_rows() -> None:
    holes = LABELS.astype(np.float64)
    holes[:200, 2] = np.nan
    result, whole = metrics.mig(CODES, holes, kinds=["ordered"] * 3), metrics.mig(CODES, LABELS)
    np.testing.assert_array_equal(result.per_factor[:2], whole.per_factor[:2])
    span = np.vstack([CODES.min(0), CODES.max(0)])  # so that bins of fewer rows are the same
    rest = metrics.mig(np.vstack([CODES[200:], span]), np.concatenate([LABELS[200:, 2], [0, 0]]))
    assert result.per_factor[2] == pytest.approx(rest.per_factor[0], abs=0.02)
    words = np.array(["a", "b", "c", "d", "e"], object)[LABELS]
    words[:200, 2] = None
    assert metrics.mig(CODES, words).score == result.score


def test_kinds_can_be_given_by_name_and_with_the_table() -> None:
    """A grid of fractions and whole numbers that count something, as declared."""
    rng = np.random.default_rng(0)
    columns = {"angle": LABELS[:, 1] / 8, "age": rng.integers(0, 10_000, len(LABELS))}
    codes = np.column_stack([columns["age"] + rng.normal(size=len(LABELS)), CODES])
    expected = metrics.dci(codes, np.column_stack(list(columns.values())), kinds=["ordered", "continuous"])
    kinds = {"angle": "ordered", "age": "continuous"}
    for factors in (columns, pd.DataFrame(columns)):
        scores = unweave.score_codes(codes, factors, metrics="dci", kinds=kinds)
        assert scores["dci"].importance.tolist() == expected.importance.tolist()
    declared = unweave.Codes(codes, columns, kinds=kinds)
    assert unweave.score(declared, metrics="dci")["dci"].importance.tolist() == expected.importance.tolist()
    with pytest.raises(InputError, match="unknown factor 'agee': did you mean 'age'"):
        unweave.score_codes(codes, columns, metrics="mig", kinds={"agee": "ordered"})
    with pytest.raises(InputError, match="factor word has words, so it cannot be continuous"):
        unweave.score_codes(
            codes, {"word": np.array(list("abcde"))[LABELS[:, 0]]}, metrics="mig", kinds={"word": "continuous"}
        )
    with pytest.raises(InputError, match="one kind for each of the 2 factors"):
        unweave.score_codes(codes, columns, metrics="mig", kinds=["ordered"])
    for wrong in ({**columns, "age": columns["age"][:5]}, {"age": np.ones((len(LABELS), 2))}):
        with pytest.raises(InputError, match="columns of factors must have one value for each row, got shapes"):
            unweave.score_codes(codes, wrong, metrics="mig")


def test_a_table_can_have_a_test_sample_and_the_rows_that_it_lacks_are_counted() -> None:
    words = np.array(["egg", "larva", "adult", "moth", "pupa"], object)[LABELS[:, 1]]
    frame = pd.DataFrame({"stage": words, "age": REAL[:, 0]})
    frame.loc[:6, "age"] = np.nan
    half = len(frame) // 2
    scores = unweave.score_codes(
        CODES[:half], frame[:half], test=(CODES[half:], frame[half:]), metrics="explicitness", missing="drop"
    )
    numbers = np.column_stack([np.unique(words.astype(str), return_inverse=True)[1], frame["age"]])
    kinds = ["categorical", "continuous"]
    test = CODES[half:], numbers[half:]
    expected = metrics.explicitness(CODES[:half], numbers[:half], test=test, kinds=kinds)
    assert scores["explicitness"].score == expected.score
    assert expected.missing.tolist() == [0, 7]
    assert scores.notes == {"rows without a value": f"age 7 of {half:,}, left out of that factor"}
    with pytest.raises(InputError, match=r"the test sample has the factors \['stage'\]"):
        unweave.score_codes(CODES[:half], frame[:half], test=(CODES[half:], frame[["stage"]][half:]), missing="drop")


def test_kinds_are_checked() -> None:
    for kinds, message in (
        (["ordered"], "one kind for each of the 3 factors"),
        ({7: "ordered"}, "kinds has factor 7, but factors are 0 to 2"),
        (["ordred"] * 3, "did you mean 'ordered'"),
    ):
        with pytest.raises(InputError, match=message):
            metrics.mig(CODES, LABELS, kinds=kinds)
    with pytest.raises(InputError, match="factor 0 has words, so it cannot be continuous"):
        metrics.mig(CODES, LABELS.astype(str), kinds={0: "continuous"})
    wide = metrics.mig(CODES, REAL, binning="width", factor_bins=7)
    edges = np.linspace(REAL.min(0), REAL.max(0), 8)[1:-1]
    by_hand = np.column_stack([np.digitize(REAL[:, k], edges[:, k]) for k in range(3)])
    assert wide.score == pytest.approx(metrics.mig(CODES, by_hand).score, abs=1e-12)
