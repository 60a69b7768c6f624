from __future__ import annotations

from unweave.questions import ANALYSES
from unweave.reports.questions import QUESTIONS


def test_every_analysis_has_a_question_in_the_same_order() -> None:
    assert list(QUESTIONS) == list(ANALYSES)
    titles = [question.title for question in QUESTIONS.values()]
    assert len(set(titles)) == len(titles)
    for question in QUESTIONS.values():
        assert question.asks.endswith("?")
        assert question.reading.endswith(".")
