from __future__ import annotations

import math
import statistics
from pathlib import Path

import pandas
import pytest

from tests.study.tiny import SPEC
from unweave import Study
from unweave.errors import InputError
from unweave.names import titled, words
from unweave.questions import method_differences
from unweave.study.results import grids, lay_beside, results, write_results

MIG = {"ae": [0.1, 0.2, 0.6], "beta_vae": [0.5, 0.4, 0.3]}
ERROR = {"ae": [9.0, 8.0, 7.0], "beta_vae": [1.0, 2.0, 4.0]}


def runs(**more: object) -> pandas.DataFrame:
    rows = [
        {"data": "dsprites", "recipe": recipe, "seed": seed, "mig": mig, "reconstruction_error": ERROR[recipe][seed]}
        for recipe, migs in MIG.items()
        for seed, mig in enumerate(migs)
    ]
    return pandas.DataFrame(rows).assign(**more)


def test_mean_deviation_and_best_of_each_score() -> None:
    found = results(runs()).set_index(["method", "score"])
    for recipe in MIG:
        for score, values in (("mig", MIG[recipe]), ("reconstruction_error", ERROR[recipe])):
            row = found.loc[(recipe, score)]
            assert row["mean"] == pytest.approx(statistics.mean(values))
            assert row["deviation"] == pytest.approx(statistics.stdev(values))
            assert (row["runs"], row["seeds"], row["failed"]) == (3, 3, 0)
    assert found["best"].to_dict() == {  # the lower error is better
        ("ae", "mig"): False,
        ("beta_vae", "mig"): True,
        ("ae", "reconstruction_error"): False,
        ("beta_vae", "reconstruction_error"): True,
    }


def test_failed_and_unfinished_runs_are_counted_and_not_averaged() -> None:
    table = runs(state=["failed", "finished", "running", "finished", "finished", "finished"])
    table.loc[4, "mig"] = math.nan
    (grid,) = grids(results(table, metrics=["mig"]))
    assert grid.columns == ["method", "seeds", "MIG"]
    assert grid.rows == [
        ["AE", "1 (1 failed, 1 not finished)", "0.200"],
        ["β-VAE", "3", "0.400 ± 0.141 (n = 2)"],
    ]
    assert grid.best == [(1, 2)]


def test_a_setting_in_which_runs_of_a_recipe_differ_makes_several_methods() -> None:
    table = runs(strength=[1.0, 1.0, 1.0, 4.0, 4.0, 16.0])
    assert list(results(table)["method"].unique()) == ["ae", "beta_vae, strength = 4", "beta_vae, strength = 16"]
    assert results(table, metrics=["mig"]).set_index("method")["deviation"].isna()["beta_vae, strength = 16"]


def test_the_forms_of_the_table() -> None:
    found = results(runs(), metrics=["mig"])
    assert write_results(found, "md").splitlines() == [
        "dSprites",
        "",
        "| method | seeds | MIG |",
        "| --- | ---: | ---: |",
        "| AE | 3 | 0.300 ± 0.265 |",
        "| β-VAE | 3 | **0.400 ± 0.100** |",
    ]
    latex = write_results(found, "latex")
    assert r"$\beta$-VAE & 3 & \textbf{0.400 $\pm$ 0.100} \\" in latex
    assert latex.count(r"\\") == 3
    assert write_results(found, "text").splitlines()[-1] == "β-VAE   3      0.400 ± 0.100*"
    assert write_results(found, "csv").splitlines()[1].startswith("dsprites,ae,mig,0.3")
    with pytest.raises(InputError, match="written as text, md, latex, csv"):
        write_results(found, "pdf")  # type: ignore[arg-type]


def test_parts_of_a_wide_table_fit_into_a_line() -> None:
    (grid,) = grids(results(runs()))
    first, second = grid.fitting(45)
    assert [part.columns[2:] for part in (first, second)] == [["MIG"], ["reconstruction error"]]
    assert first.best == second.best == [(1, 2)]
    assert [part.columns for part in grid.fitting(200)] == [grid.columns]


def test_results_from_elsewhere_lie_beside_those_of_a_table() -> None:
    theirs = pandas.DataFrame({"data": "dsprites", "method": ["ae", "ae", "ours"], "mig": [0.8, 0.6, 0.9]})
    found = results(lay_beside(runs(), theirs, "theirs")).set_index(["method", "score"])
    assert found.loc[("ae (theirs)", "mig"), "mean"] == pytest.approx(0.7)
    assert found.loc[("ae", "mig"), "mean"] == pytest.approx(0.3)
    assert found.loc[("ours", "mig"), "best"]
    assert math.isnan(found.loc[("ours", "reconstruction_error"), "mean"])
    with pytest.raises(InputError, match="theirs: has no column of a score that the study has"):
        lay_beside(runs(), theirs.rename(columns={"mig": "gap"}), "theirs")


def test_questions_compare_results_from_elsewhere_with_a_study_whose_data_has_options() -> None:
    theirs = pandas.DataFrame({"data": "dsprites", "method": "ours", "mig": [0.8, 0.6]})
    pairs = {("ae", "beta_vae"), ("ae", "ours"), ("beta_vae", "ours")}
    of_one_size = lay_beside(runs(**{"data.size": 16}), theirs, "theirs")
    found = method_differences(of_one_size, metrics=["mig"])
    assert {tuple(sorted(pair)) for pair in zip(found["method"], found["other"], strict=True)} == pairs
    of_two_sizes = lay_beside(runs(**{"data.size": [16, 32] * 3}), theirs, "theirs")
    assert of_two_sizes["data.size"].isna().sum() == 2  # which of the two it was is not known


def test_names_of_ones_own_and_titles_of_a_specification(tmp_path: Path) -> None:
    study = Study(SPEC + '\n[titles]\nmig = "the gap"\n', store=tmp_path)
    assert study.titles == {"tests.study.tiny:Dots": "Dots", "mig": "the gap"}
    with titled(study.titles):
        assert [words(name) for name in ("tests.study.tiny:Dots", "mig", "sap")] == ["Dots", "the gap", "SAP"]
        assert words("beta_vae on tests.study.tiny:Dots") == "β-VAE on Dots"
    assert words("mig") == "MIG"
    table = study.table()
    assert table.attrs["varies"] == ["recipe", "beta", "seed"]
    (grid,) = grids(results(table.assign(mig=0.5, state="finished")))
    assert [row[0] for row in grid.rows] == ["β-VAE, beta = 1", "β-VAE, beta = 4", "AE"]
