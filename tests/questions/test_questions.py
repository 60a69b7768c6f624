from __future__ import annotations

import pandas
import pytest

from tests.questions.tables import noise_table, study_table
from unweave.errors import InputError
from unweave.figures import FIGURES
from unweave.questions import QUESTIONS, all_figures, answers, figure_named
from unweave.study.columns import TableError, with_disentanglement

COMPARED_BY = ("metric", "other", "x", "y")  # columns of an answer that can name metrics


def test_every_question_is_answered_by_a_full_table_which_stays_as_it_was() -> None:
    table = study_table()
    before = table.copy()
    assert {name for name, answer in answers(table).items() if isinstance(answer, str)} == set()
    pandas.testing.assert_frame_equal(table, before)


def test_answers_do_not_depend_on_the_order_of_rows() -> None:
    table = study_table().sort_values(["data", "recipe", "strength", "seed"])
    shuffled = pandas.concat([part.sample(frac=1, random_state=0) for _, part in table.groupby("data")])
    for name, answer in answers(table).items():
        assert isinstance(answer, pandas.DataFrame)
        other = QUESTIONS[name].table(shuffled)
        if name in ("method_differences", "transfer_of_scores"):
            continue  # the order of the methods decides the sign, that of the data sets the source
        keys = [column for column in answer if answer[column].dtype.kind not in "f" or column == "strength"]
        pandas.testing.assert_frame_equal(
            answer.sort_values(keys).reset_index(drop=True), other.sort_values(keys).reset_index(drop=True)
        )


def test_what_a_table_lacks_is_a_sentence_for_each_question() -> None:
    found = answers(noise_table("mig", data=("dsprites",), seeds=1))
    reasons = {name: answer for name, answer in found.items() if isinstance(answer, str)}
    assert {"score_ranges", "scores_by_strength", "method_differences"} <= set(found) - set(reasons)
    assert "needs at least two data sets, and the table has one." in reasons["transfer_between_data"]
    assert all(name in reason and reason.endswith((".", "?")) for name, reason in reasons.items())


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_empty_table_or_none_at_all_is_refused(name: str) -> None:
    with pytest.raises(TableError, match=f"{name}.*(has no runs|needs at least)"):
        QUESTIONS[name].table(study_table().iloc[:0])
    for column in ("data", "recipe", "seed"):
        with pytest.raises(TableError) as refused:
            QUESTIONS[name].table(study_table().drop(columns=column))
        assert (refused.value.name, f"lacks the column '{column}'" in refused.value.reason) == (name, True)


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_answer_can_be_drawn(name: str) -> None:
    question = QUESTIONS[name]
    figure = question.draw(question.table(study_table(seeds=2)))
    figure.canvas.draw()
    assert figure.axes


def test_undefined_values_can_be_drawn() -> None:
    constant = noise_table("mig").assign(sap=0.5)
    written = {}
    for name in ("metric_agreement", "score_ranges", "variance_explained", "method_differences", "beating_random"):
        figure = QUESTIONS[name].draw(QUESTIONS[name].table(constant))
        figure.canvas.draw()
        written[name] = {text.get_text() for panel in figure.axes for text in panel.texts}
    assert "–" in written["metric_agreement"]  # sap is the same for all, so that it has no correlation


def test_every_question_compares_by_the_metrics_that_the_table_names() -> None:
    table = with_disentanglement(study_table(), ["mig", "sap"])
    others = {"dci.disentanglement", "modularity"}
    for name, answer in answers(table).items():
        assert isinstance(answer, pandas.DataFrame), name
        named = {str(value) for column in COMPARED_BY if column in answer for value in answer[column]}
        assert not named & others, name
        assert not others & set(answer.columns), name
    assert set(QUESTIONS["score_ranges"].table(table)["metric"]) == {"mig", "sap"}
    assert set(QUESTIONS["score_ranges"].table(table, metrics=["modularity"])["metric"]) == {"modularity"}


def test_questions_are_figures_of_tables() -> None:
    assert all_figures().keys() == FIGURES.keys() | QUESTIONS.keys()
    figure = figure_named("score_ranges")
    assert (figure.source, figure.paper) == ("table", "Locatello et al. 2019, figure 7")
    assert "metrics" in figure.settings
    assert figure_named("traversals") is FIGURES["traversals"]
    with pytest.raises(InputError, match="unknown figure 'score_range': did you mean 'score_ranges'"):
        figure_named("score_range")


def test_sentences_are_questions_and_readings() -> None:
    assert len({question.title for question in QUESTIONS.values()}) == len(QUESTIONS)
    for question in QUESTIONS.values():
        assert question.asks.endswith("?")
        assert question.reads.endswith(".")
