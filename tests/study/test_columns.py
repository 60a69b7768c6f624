from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest

from tests.questions.tables import noise_table
from unweave.errors import InputError
from unweave.questions import answers
from unweave.study.columns import (
    check_columns,
    choose_scores,
    over_seeds,
    read_runs,
    sign_of,
    supervised_metrics,
    with_settings,
)


def test_the_metrics_of_the_large_study_are_known_and_unsupervised_scores_are_not_among_them() -> None:
    known = supervised_metrics()
    assert {"beta_vae_score", "factor_vae_score", "mig", "modularity", "dci.disentanglement", "sap"} <= set(known)
    assert not {"total_correlation", "elbo", "udr", "downstream.score", "fairness"} & set(known)


def test_runs_are_chosen_by_a_data_set_with_options() -> None:
    table = pandas.DataFrame({"data": ["xysquares"] * 2 + ["dsprites"], "configuration.data.size": [16, 32, 16]})
    assert list(with_settings(table, {"data": "xysquares,size=16"}).index) == [0]
    assert list(with_settings(table, {"data": "xysquares"}).index) == [0, 1]


def test_signs_follow_the_catalogue() -> None:
    assert [sign_of(name) for name in ("mig", "dci.disentanglement", "total_correlation", "mine")] == [1, 1, -1, 1]


def test_missing_columns_are_named_with_the_closest_match() -> None:
    table = noise_table("mig").rename(columns={"strength": "strengths"})
    with pytest.raises(InputError, match=r"thing: the table lacks the columns 'strength', 'sap'. Did you mean 'streng"):
        check_columns("thing", table, ["strength", "sap"])
    with pytest.raises(
        InputError, match=r"lacks the column 'strength'\. A study has a strength if each grid names a setting"
    ):
        check_columns("thing", noise_table("mig").drop(columns="strength"), ["strength"])
    with pytest.raises(InputError, match=r"lacks the column 'udr'\. unweave study report --udr"):
        check_columns("thing", table, ["mig", "udr"])
    with pytest.raises(InputError, match="thing: the table has no runs"):
        check_columns("thing", table.iloc[:0], ["mig"])
    with pytest.raises(InputError, match="needs a pandas data frame with one row per run, got list"):
        check_columns("thing", [], ["mig"])


def test_methods_without_a_strength_are_compared_and_not_drawn_against_it() -> None:
    several = noise_table("mig")
    table = several.drop_duplicates(["data", "recipe", "seed"]).drop(columns="strength")
    results = answers(table)
    assert {name for name, result in results.items() if not isinstance(result, str)} >= {
        "score_ranges",
        "method_differences",
        "beating_random",
    }
    assert "lacks the column 'strength'" in str(results["scores_by_strength"])
    with pytest.raises(InputError, match=r"several runs have the same .* A study has a strength if each grid names"):
        read_runs("thing", several.drop(columns="strength"), ["mig"])


def test_scores_are_chosen_from_the_known_ones_or_as_given() -> None:
    table = noise_table("mig", "sap", "mine").assign(modularity=np.nan)
    assert choose_scores("thing", table, None, supervised_metrics()) == ["mig", "sap"]  # modularity has no value
    assert choose_scores("thing", table, ["mine"], supervised_metrics()) == ["mine"]
    with pytest.raises(InputError, match="needs at least 3 columns of scores such as"):
        choose_scores("thing", table, None, supervised_metrics(), at_least=3)
    with pytest.raises(InputError, match="lacks the column 'other'"):
        choose_scores("thing", table, ["other"], supervised_metrics())
    with pytest.raises(InputError, match="must be a list of column names, got the text 'mig'"):
        choose_scores("thing", table, "mig", supervised_metrics())


def test_infinities_are_missing_and_words_and_duplicates_are_refused() -> None:
    table = noise_table("mig").reset_index(drop=True)
    table.loc[0, "mig"] = np.inf
    missing = read_runs("thing", table, ["mig"]).query("mig.isna()")
    assert missing[["data", "recipe", "strength", "seed"]].values.tolist() == [table.iloc[0, :4].tolist()]
    with pytest.raises(InputError, match="'mig' must contain numbers"):
        read_runs("thing", table.assign(mig="high"), ["mig"])
    with pytest.raises(InputError, match="several runs have the same data, recipe, strength and seed, such as"):
        read_runs("thing", pandas.concat([table, table.iloc[:1]]), ["mig"])


def test_medians_are_over_seeds_and_a_missing_strength_is_a_value() -> None:
    rows: list[tuple[object, ...]] = [
        ("d", "ae", None, seed, score) for seed, score in enumerate((9.0, 1.0, 2.0, np.nan))
    ]
    rows += [("d", "vae", 1.0, 0, 7.0)]
    runs = pandas.DataFrame(rows, columns=["data", "recipe", "strength", "seed", "mig"])
    medians = over_seeds(runs, ["mig"], "medians")
    assert dict(zip(medians["recipe"], medians["mig"], strict=True)) == {"ae": 2.0, "vae": 7.0}
    assert over_seeds(runs, ["mig"], "models") is runs
    with pytest.raises(InputError, match="over must be 'models' or 'medians'"):
        over_seeds(runs, ["mig"], "means")  # type: ignore[arg-type]


def test_runs_are_sorted_by_data_set_and_recipe_in_order_of_appearance() -> None:
    table = noise_table("mig")
    runs = read_runs("thing", table, ["mig"])
    assert runs["data"].drop_duplicates().tolist() == table["data"].drop_duplicates().tolist()
    groups = list(dict.fromkeys(zip(runs["data"], runs["recipe"], strict=True)))
    recipes = table["recipe"].drop_duplicates().tolist()
    assert groups == [(data, recipe) for data in table["data"].drop_duplicates() for recipe in recipes]
    first = (table["data"] == groups[0][0]) & (table["recipe"] == groups[0][1])
    assert runs["mig"].tolist()[: first.sum()] == table.loc[first, "mig"].tolist()


TAGGED = pandas.DataFrame(
    {
        "run": ["a", "b", "c", "d"],
        "tag": ["figure 6", "figure 6", "figure 9", None],
        "beta": [1.0, 4.0, 4.0, float("nan")],
        "changed": [[1, 5], None, [1, 6], None],
        "configuration.beta": [1.0, 4.0, 4.0, 2.0],
        "configuration.lr": [1e-3, 1e-3, 1e-4, 1e-4],
    }
)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({}, "abcd"),
        ({"tag": "figure 6"}, "ab"),
        ({"tag": None}, "d"),
        ({"beta": 4}, "bc"),
        ({"beta": [1, 2]}, "ad"),  # what a study leaves at its default is in the configuration
        ({"beta": (1, 2), "tag": "figure 6"}, "a"),
        ({"lr": 1e-4}, "cd"),
        ({"changed": [1, 6]}, "c"),
        ({"changed": [[1, 5], [1, 6]]}, "ac"),
        ({"beta": 7}, ""),
    ],
)
def test_settings_choose_runs(where: dict[str, Any], expected: str) -> None:
    assert "".join(with_settings(TAGGED, where)["run"]) == expected


def test_an_unknown_setting_is_named_with_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown setting in where 'bta': did you mean 'beta'"):
        with_settings(TAGGED, {"bta": 1})


def test_a_data_set_with_several_options_counts_as_several() -> None:
    keys = {"recipe": "vae", "strength": 1.0, "seed": 0}
    table = pandas.DataFrame(
        [
            {"data": "dsprites", "data.orientation": 0, "mig": 0.1, **keys},
            {"data": "dsprites", "mig": 0.2, **keys},
            {"data": "color_dsprites", "data.orientation": 0, "mig": 0.3, **keys},
        ]
    )
    runs = read_runs("a question", table, ["mig"])
    assert dict(zip(runs["data"], runs["mig"], strict=True)) == {
        "dsprites, orientation = 0": 0.1,
        "dsprites": 0.2,
        "color_dsprites": 0.3,
    }
