from __future__ import annotations

from tests.questions.tables import noise_table
from unweave.questions import QUESTIONS
from unweave.reports.answers import answer, unanswered


def test_what_applies_is_shown_and_the_rest_is_refused_with_a_sentence() -> None:
    table = noise_table("mig", data=("dsprites",), seeds=2)
    seen: list[str] = []
    sections, refused = answer(table, seen.append)
    titles = [section.title for section in sections]
    assert sorted([*titles, *refused]) == sorted(question.title for question in QUESTIONS.values())
    assert seen == [question.title for question in QUESTIONS.values()]
    assert {"Score ranges", "Variance explained", "Differences between methods"} <= set(titles)
    assert "at least two data sets" in refused["Transfer between data sets"]
    assert "at least 2 columns of scores" in refused["Agreement of metrics"]
    for section in sections:
        assert "data:image/" in section.body
    text = unanswered({"<b>": "needs <i>"}).body
    assert "&lt;b&gt;" in text
    assert "<i>" not in text
