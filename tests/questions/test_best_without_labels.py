from __future__ import annotations

import numpy as np
import pytest

from tests.questions.tables import noise_table, study_table
from unweave.errors import InputError
from unweave.questions import best_without_labels
from unweave.questions.best_without_labels import draw_best_without_labels


@pytest.mark.parametrize(("rule", "best"), [("udr", max), ("elbo", max), ("reconstruction_error", min)])
def test_the_picked_run_is_the_best_of_its_data_set_and_recipe(rule: str, best: object) -> None:
    table = study_table()
    result = best_without_labels(table, rule=rule)
    assert len(result) == 9
    for row in result.to_dict("records"):
        group = table[(table["data"] == row["data"]) & (table["recipe"] == row["recipe"])]
        assert row["value"] == best(group[rule])  # type: ignore[operator]
        run = group[(group["strength"] == row["strength"]) & (group["seed"] == row["seed"])].iloc[0]
        assert (row["value"], row["mig"], row["among"]) == (run[rule], run["mig"], 15)


def test_the_rule_is_the_first_that_the_table_has() -> None:
    table = study_table()
    assert set(best_without_labels(table)["rule"]) == {"udr"}
    assert set(best_without_labels(table.drop(columns="udr"))["rule"]) == {"elbo"}
    assert set(best_without_labels(table.assign(udr=np.nan, elbo=np.nan))["rule"]) == {"reconstruction_error"}


def test_methods_without_the_score_are_left_out_and_the_first_of_a_tie_is_picked() -> None:
    table = noise_table("mig", "udr")
    table.loc[table["recipe"] == "dip_vae_i", "udr"] = np.nan
    table.loc[table["recipe"] == "beta_vae", "udr"] = 1.0
    result = best_without_labels(table)
    assert set(result["recipe"]) == {"beta_vae", "annealed_vae"}
    row = result[(result["recipe"] == "beta_vae") & (result["data"] == "cars3d")].iloc[0]
    first = table[(table["recipe"] == "beta_vae") & (table["data"] == "cars3d")].iloc[0]
    assert row["mig"] == first["mig"]


def test_rules_that_use_labels_are_refused() -> None:
    with pytest.raises(InputError, match="the rule 'mig' uses labels"):
        best_without_labels(study_table(), rule="mig")
    with pytest.raises(InputError, match="the rule must be one of udr, elbo"):
        best_without_labels(study_table(), rule="seed")
    with pytest.raises(InputError, match="lacks the column 'psnr'"):
        best_without_labels(study_table(), rule="psnr")
    with pytest.raises(InputError, match="needs a column with a score that uses no labels: one of udr"):
        best_without_labels(noise_table("mig"))


def test_each_picked_run_is_one_marker_on_the_line_of_its_data_set() -> None:
    result = best_without_labels(study_table(), rule="elbo", metrics=["mig", "sap"])
    figure = draw_best_without_labels(result)
    data = result["data"].unique().tolist()
    marks = [line for line in figure.axes[1].lines if line.get_marker() != "None"]
    drawn = [tuple(np.asarray(mark.get_xydata())[0]) for mark in marks]
    assert drawn == [(row.sap, data.index(row.data)) for row in result.itertuples()]
    assert figure.get_supxlabel() == "score of the run picked by ELBO"
