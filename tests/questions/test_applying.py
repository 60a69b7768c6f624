from __future__ import annotations

import pandas
import pytest

from tests.questions.tables import noise_table, study_table
from unweave.errors import InputError
from unweave.questions import ANALYSES, applicable


def test_every_analysis_applies_to_a_full_table_and_leaves_it_as_it_was() -> None:
    table = study_table()
    before = table.copy()
    results = applicable(table)
    assert list(results) == list(ANALYSES)
    assert {name for name, result in results.items() if isinstance(result, str)} == set()
    pandas.testing.assert_frame_equal(table, before)


def test_results_do_not_depend_on_the_order_of_rows() -> None:
    table = study_table().sort_values(["data", "recipe", "strength", "seed"])
    shuffled = pandas.concat([part.sample(frac=1, random_state=0) for _, part in table.groupby("data")])
    for name, result in applicable(table).items():
        assert isinstance(result, pandas.DataFrame)
        other = ANALYSES[name](shuffled)
        if name in ("method_differences", "transfer_of_scores"):
            continue  # the order of the methods decides the sign, that of the data sets the source
        keys = [column for column in result if result[column].dtype.kind not in "f" or column == "strength"]
        pandas.testing.assert_frame_equal(
            result.sort_values(keys).reset_index(drop=True), other.sort_values(keys).reset_index(drop=True)
        )


def test_what_a_table_lacks_is_a_sentence_for_each_analysis() -> None:
    results = applicable(noise_table("mig", data=("dsprites",), seeds=1))
    reasons = {name: result for name, result in results.items() if isinstance(result, str)}
    assert set(results) - set(reasons) == {"score_ranges", "scores_by_strength", "method_differences"}
    assert (
        reasons["transfer_between_data"] == "transfer_between_data needs at least two data sets, and the table has one."
    )
    assert all(name in reason and reason.endswith((".", "?")) for name, reason in reasons.items())


@pytest.mark.parametrize("name", ANALYSES)
def test_an_empty_table_or_none_at_all_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name}.*(has no runs|needs at least)"):
        ANALYSES[name](study_table().iloc[:0])
    for column in ("data", "recipe", "seed"):
        with pytest.raises(InputError, match=f"{name}: the table lacks the column '{column}'"):
            ANALYSES[name](study_table().drop(columns=column))
