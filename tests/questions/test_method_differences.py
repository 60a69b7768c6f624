from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from scipy.stats import t as student
from scipy.stats import ttest_ind

from tests.questions.tables import noise_table, study_table
from unweave.errors import InputError
from unweave.questions import method_differences
from unweave.questions.method_differences import difference_of_means, draw_method_differences, holm


@pytest.mark.parametrize("test", ["welch", "student"])
@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("spread", [3.0, 0.0])  # the second sample may be constant
def test_tests_and_intervals_are_those_of_the_formulas(test: str, side: str, spread: float) -> None:
    g = np.random.default_rng(0)
    a, b = g.normal(0.5, 1, 8), g.normal(0, spread, 13)
    n, m, va, vb = 8, 13, a.var(ddof=1), b.var(ddof=1)
    pooled = ((n - 1) * va + (m - 1) * vb) / (n + m - 2) * (1 / n + 1 / m)
    error2 = pooled if test == "student" else va / n + vb / m
    satterthwaite = error2**2 / ((va / n) ** 2 / (n - 1) + (vb / m) ** 2 / (m - 1))
    law = student(n + m - 2 if test == "student" else satterthwaite)
    mean = a.mean() - b.mean()
    value, reach = mean / np.sqrt(error2), law.ppf(0.95) * np.sqrt(error2)
    p = {"two-sided": 2 * law.sf(abs(value)), "greater": law.sf(value), "less": law.cdf(value)}[side]
    expected = (mean, mean - reach, mean + reach, value, law.args[0], p)
    assert difference_of_means(a, b, test, side, 0.9) == pytest.approx(expected)


def test_equal_groups_have_the_same_t_and_other_degrees_of_freedom() -> None:
    table = study_table()
    welch, student = (method_differences(table, test=test) for test in ("welch", "student"))
    np.testing.assert_allclose(welch["t"], student["t"])
    assert (student["degrees"] == 28).all()
    assert (welch["degrees"] < 28).all()


def test_holm_of_a_worked_example() -> None:
    p = np.array([0.01, 0.04, np.nan, 0.03, 0.005])  # Holm 1979: sorted times 4, 3, 2, 1, never decreasing
    np.testing.assert_allclose(holm(p), [0.03, 0.06, np.nan, 0.06, 0.02])
    np.testing.assert_allclose(holm(np.array([0.6, 0.9])), [1.0, 1.0])


def test_rows_compare_runs_of_one_data_set_and_correct_within_it_or_over_all() -> None:
    table = study_table()
    result = method_differences(table, metrics=["mig", "sap"])
    assert len(result) == 2 * 3 * 3
    for row in result.itertuples():
        part = table[table["data"] == row.data]
        a, b = (part.loc[part["recipe"] == name, row.metric] for name in (row.method, row.other))
        assert row.p == pytest.approx(ttest_ind(a, b, equal_var=False).pvalue)
    first = result[(result["metric"] == "sap") & (result["data"] == "cars3d")]
    np.testing.assert_allclose(first["p_holm"], holm(first["p"].to_numpy()))
    together = method_differences(table, metrics=["mig", "sap"], family="all")
    np.testing.assert_allclose(together["p_holm"], holm(together["p"].to_numpy()))


def test_a_reference_and_methods_named_by_several_columns() -> None:
    table = study_table()
    result = method_differences(table, metrics=["mig"], reference="beta_vae")
    assert set(result["other"]) == {"beta_vae"}
    assert len(result) == 3 * 2
    by = method_differences(table, metrics=["mig"], by=("recipe", "strength"))
    assert len(by) == 3 * 9 * 8 / 2
    assert "beta_vae 16" in set(by["method"])


def test_methods_that_do_not_vary_have_no_test() -> None:
    table = noise_table("mig")
    table["mig"] = (table["recipe"] == "beta_vae") * 1.0
    result = method_differences(table)
    assert result[["t", "p", "p_holm"]].isna().all(axis=None)
    assert set(result["difference"]) <= {0.0, 1.0, -1.0}


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InputError, match="needs at least two methods with two runs each"):
        method_differences(noise_table("mig", seeds=1).query("strength in (1, 5)").query("recipe == 'beta_vae'"))
    with pytest.raises(InputError, match="unknown method 'betavae': did you mean 'beta_vae'"):
        method_differences(noise_table("mig"), reference="betavae")
    with pytest.raises(InputError, match="test must be one of welch, student, got 'anova'"):
        method_differences(noise_table("mig"), test="anova")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="confidence must be between 0 and 1, got 95"):
        method_differences(noise_table("mig"), confidence=95)


def test_intervals_are_drawn_and_significant_ones_filled() -> None:
    result = method_differences(study_table(), metrics=["mig", "sap"])
    figure = draw_method_differences(result)
    first = result[result["data"] == result["data"].iloc[0]]
    drawn: dict[tuple[float, float], tuple[float, bool]] = {}  # the interval, its point, and whether it is filled
    for panel in figure.axes[:2]:
        for intervals, points in zip(panel.collections, panel.lines[:2], strict=True):  # before the line at zero
            assert isinstance(intervals, LineCollection)
            filled = points.get_markerfacecolor() != "white"
            for segment, point in zip(intervals.get_segments(), np.asarray(points.get_xdata()), strict=True):
                drawn[segment[0, 0], segment[1, 0]] = point, filled
    assert drawn == {(row.low, row.high): (row.difference, row.p_holm < 0.05) for row in first.itertuples()}
    assert {row.p_holm < 0.05 for row in first.itertuples()} == {True, False}
