from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from tests.questions.tables import make_table, noise_table, study_table
from unweave.errors import InputError
from unweave.questions import transfer_between_data, transfer_of_scores


def test_settings_are_paired_by_configuration_not_by_row() -> None:
    def score(data: str, recipe: str, strength: float, seed: int, _g: np.random.Generator) -> dict[str, float]:
        value = strength * {"beta_vae": 1, "annealed_vae": 2, "dip_vae_i": 3}[recipe]
        return {"mig": (value**2 if data == "dsprites" else -value) + (0, 0, 50, -50)[seed]}

    result = transfer_between_data(make_table(score, data=("dsprites", "cars3d", "norb")))
    found = result.set_index(["data", "other"])["correlation"]
    assert found["dsprites", "cars3d"] == pytest.approx(-1)
    assert found["cars3d", "norb"] == pytest.approx(1)
    assert found["cars3d", "cars3d"] == pytest.approx(1)


def test_correlations_are_of_medians_over_settings_on_both_data_sets() -> None:
    table = noise_table("mig", "sap")
    table = table[(table["data"] == "dsprites") | (table["strength"] != 100)]  # not trained on cars3d
    result = transfer_between_data(table).set_index(["metric", "data", "other"])
    medians = table.groupby(["data", "recipe", "strength"])[["mig", "sap"]].median()
    shared = medians.loc["cars3d"].index
    for metric in ("mig", "sap"):
        a, b = medians.loc["dsprites"].loc[shared, metric], medians.loc["cars3d"].loc[shared, metric]
        row = result.loc[metric, "dsprites", "cars3d"]
        assert row["count"] == 8
        assert row["correlation"] == pytest.approx(spearmanr(a, b).statistic)


def test_scores_on_one_data_set_against_the_others() -> None:
    table = study_table()
    points = transfer_of_scores(table, source="cars3d", metrics=["mig"])
    assert set(points["data"]) == {"dsprites", "shapes3d"}
    medians = table.groupby(["data", "recipe", "strength"])["mig"].median()
    for row in points.itertuples():
        assert row.x_value == medians["cars3d", row.recipe, row.strength]
        assert row.y_value == medians[row.data, row.recipe, row.strength]
    assert transfer_of_scores(table)["source"].unique().tolist() == [table["data"].iloc[0]]


def test_a_method_without_strength_is_paired_too() -> None:
    table = noise_table("mig")
    table = table[(table["recipe"] != "dip_vae_i") | (table["strength"] == 1)]
    table["strength"] = table["strength"].astype(float).where(table["recipe"] != "dip_vae_i")
    assert set(transfer_between_data(table)["count"]) == {7}
    assert set(transfer_of_scores(table)["recipe"]) == {"beta_vae", "annealed_vae", "dip_vae_i"}


def test_two_data_sets_are_needed() -> None:
    with pytest.raises(InputError, match="transfer_between_data: needs at least two data sets, and the table has one"):
        transfer_between_data(noise_table("mig", data=("dsprites",)))
    with pytest.raises(InputError, match="unknown data set 'cars': did you mean 'cars3d'"):
        transfer_of_scores(noise_table("mig"), source="cars")
