from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from tests.questions.tables import STRENGTHS, make_table, noise_table, study_table
from unweave.errors import InputError
from unweave.questions import variance_explained
from unweave.questions.variance_explained import draw_variance_explained, r_squared


def _shares(table: object, **settings: object) -> dict[str, float]:
    result = variance_explained(table, **settings)  # type: ignore[arg-type]
    return result.groupby("source")["explained"].mean().to_dict()  # type: ignore[no-any-return]


def test_pure_noise_is_explained_by_nothing_and_plain_r2_overstates() -> None:
    table = noise_table("mig", "sap", "modularity", data=("a", "b", "c", "d"), seeds=10)
    shares = _shares(table)
    assert shares["objective"] == pytest.approx(0, abs=0.03)
    assert shares["hyperparameter"] == pytest.approx(0, abs=0.04)
    assert shares["seed"] == pytest.approx(1, abs=0.04)
    plain = _shares(table, method="plain")
    assert plain["objective"] + plain["hyperparameter"] == pytest.approx(8 / 89, abs=0.03)  # (p − 1) / (n − 1)
    ahead = _shares(table, method="leave-one-out")
    assert ahead["seed"] == pytest.approx((10 / 9) / (90 / 89), abs=0.04)  # each mean of 9 runs adds its own variance


def test_one_cause_explains_everything() -> None:
    quality = {"beta_vae": 0.1, "annealed_vae": 0.7, "dip_vae_i": 0.2}
    by_recipe = _shares(make_table(lambda d, r, s, n, g: {"mig": quality[r]}))
    assert by_recipe == pytest.approx({"objective": 1, "hyperparameter": 0, "seed": 0})
    table = make_table(lambda d, r, s, n, g: {"mig": float(STRENGTHS[r].index(int(s)))})
    assert _shares(table, method="plain") == pytest.approx({"objective": 0, "hyperparameter": 1, "seed": 0})
    by_seed = _shares(make_table(lambda d, r, s, n, g: {"mig": float(n)}))
    assert by_seed["seed"] > 1 - 1e-9  # adjusted shares of the others are negative


def test_the_three_forms_are_those_of_a_linear_model_on_dummies() -> None:
    g = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2, 3], (3, 5, 4, 6))
    values = g.normal(size=18) + groups
    dummies = np.eye(4)[groups]
    model = LinearRegression(fit_intercept=False)
    plain = model.fit(dummies, values).score(dummies, values)
    assert r_squared(values, groups, "plain") == pytest.approx(plain)
    assert r_squared(values, groups, "adjusted") == pytest.approx(1 - (1 - plain) * 17 / 14)
    ahead = cross_val_predict(model, dummies, values, cv=LeaveOneOut())
    base = cross_val_predict(model, np.ones((18, 1)), values, cv=LeaveOneOut())
    expected = 1 - ((values - ahead) ** 2).sum() / ((values - base) ** 2).sum()
    assert r_squared(values, groups, "leave-one-out") == pytest.approx(expected)


def test_a_constant_score_has_no_variance_to_explain() -> None:
    result = variance_explained(noise_table("mig").assign(sap=0.5), metrics=["sap"])
    assert result["explained"].isna().all()


def test_settings_with_one_run_are_left_out_when_leaving_one_out() -> None:
    table = noise_table("mig").query("not (recipe == 'beta_vae' and strength == 1 and seed > 0)")
    assert set(variance_explained(table, method="leave-one-out")["runs"]) == {32}
    assert set(variance_explained(table)["runs"]) == {33}


def test_one_seed_is_too_few() -> None:
    with pytest.raises(InputError, match="variance_explained: needs at least two seeds for each setting"):
        variance_explained(noise_table("mig", seeds=1))
    with pytest.raises(InputError, match="method must be one of adjusted, leave-one-out, plain, got 'r2'"):
        variance_explained(noise_table("mig"), method="r2")  # type: ignore[arg-type]


def test_one_method_without_strengths_has_nothing_to_explain() -> None:
    table = study_table()
    one = table[(table["recipe"] == table["recipe"][0]) & (table["strength"] == table["strength"][0])]
    with pytest.raises(InputError, match="variance_explained: needs several methods or strengths"):
        variance_explained(one)


def test_bars_are_the_shares_of_each_source() -> None:
    result = variance_explained(study_table(), metrics=["mig", "sap"])
    figure = draw_variance_explained(result)
    assert len(figure.axes) == 2
    part = result[result["metric"] == "sap"]
    for bars, source in zip(figure.axes[1].containers, ("objective", "hyperparameter", "seed"), strict=True):
        widths = [bar.get_width() for bar in bars]
        np.testing.assert_array_equal(widths, part.loc[part["source"] == source, "explained"])
