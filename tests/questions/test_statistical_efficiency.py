from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from tests.questions.tables import make_table, noise_table, study_table
from unweave.errors import InputError
from unweave.questions import efficiency_points, statistical_efficiency


def _accuracies(_d: str, _r: str, _s: float, _n: int, g: np.random.Generator) -> dict[str, float]:
    return {"mig": g.random(), "few": g.random(), "many": 0.5 + g.random()}


def test_efficiency_is_accuracy_with_few_labels_over_that_with_many() -> None:
    table = make_table(_accuracies)
    result = statistical_efficiency(table, efficiencies={"mine": ("few", "many")}).set_index("data")
    for data in ("dsprites", "cars3d"):
        part = table[table["data"] == data]
        expected = spearmanr(part["mig"], part["few"] / part["many"]).statistic
        assert result.loc[data, "correlation"] == pytest.approx(expected)


def test_columns_of_unweave_are_used_as_they_are() -> None:
    table = study_table()
    result = statistical_efficiency(table, metrics=["mig"])
    names = ["downstream.efficiency_logistic", "downstream.efficiency_boosted"]
    assert result["efficiency"].tolist() == names * 3
    part = table[table["data"] == result["data"].iloc[1]]
    assert result["correlation"].iloc[1] == pytest.approx(spearmanr(part["mig"], part[names[1]]).statistic)
    points = efficiency_points(table, metrics=["mig"])
    assert points.groupby(["x", "y"]).size().to_dict() == {("mig", name): len(table) for name in names}


def test_a_divisor_of_zero_is_missing() -> None:
    table = make_table(_accuracies).reset_index(drop=True)
    table.loc[0, "many"] = 0.0
    points = efficiency_points(table, efficiencies={"mine": ("few", "many")})
    assert len(points) == len(table) - 1
    merged = points.merge(table, on=["data", "recipe", "strength", "seed"])
    np.testing.assert_allclose(merged["y_value"], merged["few"] / merged["many"])


def test_an_efficiency_is_needed() -> None:
    with pytest.raises(InputError, match=r"such as downstream.efficiency_logistic"):
        statistical_efficiency(noise_table("mig"))
    with pytest.raises(InputError, match="efficiency_points: the table lacks the column 'many'"):
        efficiency_points(noise_table("mig", "few"), efficiencies={"mine": ("few", "many")})
