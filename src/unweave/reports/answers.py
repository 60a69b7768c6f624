"""The sections that answer the questions of a study, and why the others cannot be answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from unweave.errors import InputError
from unweave.names import words
from unweave.questions import QUESTIONS
from unweave.reports.html.embedded_figures import show_figure
from unweave.reports.html.markup import Html, Section, joined, tag
from unweave.reports.html.tables import counted, folded, frame_table
from unweave.study.columns import TableError, strengths_vary

if TYPE_CHECKING:
    import pandas

MOST_ROWS = 4_000  # of the table of an answer


def answer(table: pandas.DataFrame, watch: Callable[[str], None] | None = None) -> tuple[list[Section], dict[str, str]]:
    """Return one section per question that the table answers, and for the others the sentence that says what it lacks.

    ``watch`` is called with the title of each question before it is answered.
    """
    sections, refused = [], {}
    for question in QUESTIONS.values():
        if watch is not None:
            watch(question.title)
        try:
            if question.about_strengths and not strengths_vary(table):
                raise TableError(question.name, "asks about hyperparameters, and no method has several.")
            result = question.table(table)
            figure = show_figure(question.draw(result), f"{question.title}. {question.reads}", caption=question.reads)
        except InputError as error:
            refused[question.title] = error.reason if isinstance(error, TableError) else str(error)
            continue
        listed = Html("") if question.points else frame_table(result, name=words, most=MOST_ROWS, headings=2)
        sections.append(Section(question.title, joined([figure, listed]), question.asks))
    return sections, refused


def unanswered(refused: dict[str, str]) -> Section:
    """Return the section about questions that the table does not answer."""
    titles: dict[str, list[str]] = {}
    for title, reason in refused.items():
        titles.setdefault(reason[:1].upper() + reason[1:], []).append(title)
    entries = [tag("li", tag("strong", "; ".join(of)), ". ", reason) for reason, of in titles.items()]
    about = "These questions need something that the runs of this study do not have."
    listed = folded(f"{counted(len(refused), 'question')} of {len(QUESTIONS)}", tag("ul", joined(entries)))
    return Section("What could not be answered", listed, about, "Not answered")
