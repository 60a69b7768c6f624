from __future__ import annotations

import statistics

import numpy as np
import pandas
import pytest

from tests.questions.tables import noise_table, study_table
from unweave.errors import InputError
from unweave.questions import scores_by_strength, total_correlation_by_strength
from unweave.questions.scores_by_strength import draw_scores_by_strength
from unweave.questions.total_correlation_by_strength import draw_total_correlation_by_strength


def test_medians_and_quartiles_of_each_group() -> None:
    table = noise_table("mig", "sap", seeds=5)
    result = scores_by_strength(table)
    assert len(result) == 2 * 2 * 3 * 3
    for row in result.itertuples():
        same = (table["data"] == row.data) & (table["recipe"] == row.recipe) & (table["strength"] == row.strength)
        lower, median, upper = statistics.quantiles(table.loc[same, row.metric], n=4, method="inclusive")
        assert (row.lower, row.median, row.upper, row.runs) == pytest.approx((lower, median, upper, 5))


def test_order_runs_from_weak_to_strong_and_backwards_for_a_capacity() -> None:
    result = scores_by_strength(noise_table("mig"))
    order = result[result["data"] == "cars3d"].set_index(["recipe", "strength"])["order"].to_dict()
    assert [order["beta_vae", s] for s in (1, 4, 16)] == [1, 2, 3]
    assert [order["annealed_vae", s] for s in (5, 25, 100)] == [3, 2, 1]
    plain = scores_by_strength(noise_table("mig"), backwards=())
    assert plain.set_index(["recipe", "strength"])["order"].to_dict()["annealed_vae", 100] == 3


def test_methods_without_a_strength_are_left_out_and_failed_groups_are_nan() -> None:
    table = noise_table("mig").reset_index(drop=True)
    table.loc[table["recipe"] == "dip_vae_i", "strength"] = np.nan
    table["seed"] = range(len(table))
    table.loc[(table["recipe"] == "beta_vae") & (table["strength"] == 4), "mig"] = np.nan
    result = scores_by_strength(table)
    assert set(result["recipe"]) == {"beta_vae", "annealed_vae"}
    failed = result[(result["recipe"] == "beta_vae") & (result["strength"] == 4)]
    assert failed["runs"].tolist() == [0, 0]
    assert failed["median"].isna().all()


def test_strengths_must_be_numbers() -> None:
    table = noise_table("mig")
    with pytest.raises(InputError, match="scores_by_strength: the column 'strength' must contain numbers"):
        scores_by_strength(table.assign(strength="β = " + table["strength"].astype(str)))
    with pytest.raises(InputError, match="no run has a strength"):
        scores_by_strength(table.assign(strength=np.nan, seed=range(len(table))))
    with pytest.raises(InputError, match="lacks the column 'strength'"):
        scores_by_strength(pandas.DataFrame({"data": ["d"], "recipe": ["r"], "seed": [0], "mig": [0.1]}))


def test_lines_are_the_medians_from_weak_to_strong() -> None:
    result = scores_by_strength(study_table(), metrics=["mig", "sap"])
    figure = draw_scores_by_strength(result)
    assert len(figure.axes) == 3 * 2
    panel = figure.axes[3]  # the second data set, the second score
    part = result[(result["data"] == result["data"].unique()[1]) & (result["metric"] == "sap")]
    for line, recipe in zip(panel.lines, result["recipe"].unique(), strict=True):
        expected = part[part["recipe"] == recipe].sort_values("order")
        np.testing.assert_array_equal(line.get_xdata(), [1, 2, 3])
        np.testing.assert_array_equal(line.get_ydata(), expected["median"])


def test_total_correlation_is_logarithmic_and_shows_both_kinds_of_codes() -> None:
    figure = draw_total_correlation_by_strength(total_correlation_by_strength(study_table()))
    assert [panel.get_yscale() for panel in figure.axes] == ["log"] * 6
    titles = [panel.get_title().replace("\n", " ") for panel in figure.axes[:2]]
    assert titles == ["total correlation, mean", "total correlation, sampled"]
