from __future__ import annotations

import numpy as np
import pytest

from tests.questions.tables import noise_table, study_table
from unweave.errors import InputError
from unweave.questions import mean_against_sampled, total_correlation_by_strength


def test_medians_of_mean_and_sampled_codes_per_data_recipe_and_strength() -> None:
    table = study_table()
    result = total_correlation_by_strength(table)
    assert len(result) == 2 * 3 * 3 * 3
    for row in result.itertuples():
        same = (table["data"] == row.data) & (table["recipe"] == row.recipe) & (table["strength"] == row.strength)
        column = {"mean": "total_correlation", "sampled": "total_correlation_sampled"}[row.codes]
        assert row.median == pytest.approx(np.median(table.loc[same, column]))
    by_order = result[result["recipe"] == "annealed_vae"].groupby("order")["strength"].first().to_dict()
    assert by_order == {1: 100, 2: 25, 3: 5}  # the largest capacity regularises least


def test_logarithms_of_each_model_and_zero_is_left_out() -> None:
    table = study_table().reset_index(drop=True)
    table.loc[0, "total_correlation"] = 0.0
    points = mean_against_sampled(table)
    assert len(points) == len(table) - 1
    merged = points.merge(table, on=["data", "recipe", "strength", "seed"])
    np.testing.assert_allclose(np.exp(merged["x_value"]), merged["total_correlation_sampled"])
    np.testing.assert_allclose(np.exp(merged["y_value"]), merged["total_correlation"])


def test_both_columns_are_needed() -> None:
    with pytest.raises(
        InputError, match="lacks the columns 'total_correlation', 'total_correlation_sampled'"
    ) as lacking:
        total_correlation_by_strength(noise_table("mig").assign(**{"configuration.samples": 5}))
    hint = "A study has them if its metrics list total_correlation and total_correlation_sampled."
    assert str(lacking.value).endswith(hint)
    with pytest.raises(InputError, match="mean_against_sampled: the table lacks the column 'tc_sampled'"):
        mean_against_sampled(noise_table("tc"), mean="tc", sampled="tc_sampled")
