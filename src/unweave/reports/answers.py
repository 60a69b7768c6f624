"""The sections that answer the questions of a study, and why the others cannot be answered."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from unweave.errors import InputError
from unweave.figures.answers import DRAWN
from unweave.names import words
from unweave.questions import ANALYSES
from unweave.reports.html.embedded_figures import show_figure
from unweave.reports.html.markup import Html, joined, tag
from unweave.reports.html.page import Section
from unweave.reports.html.tables import frame_table
from unweave.reports.questions import QUESTIONS

if TYPE_CHECKING:
    import pandas

MOST_ROWS = 4_000  # of the table of an analysis


def answer(
    table: pandas.DataFrame, watch: Callable[[str], None] | None = None, metrics: Sequence[str] | None = None
) -> tuple[list[Section], dict[str, str]]:
    """Return one section per analysis that applies, and for the others the sentence that says what the table lacks.

    ``watch`` is called with the title of each analysis before it is computed. ``metrics`` are the scores to compare
    methods by; by default, the disentanglement metrics of the catalogue.
    """
    sections, refused = [], {}
    for name, analysis in ANALYSES.items():
        question = QUESTIONS[name]
        if watch is not None:
            watch(question.title)
        try:
            takes = metrics is not None and "metrics" in inspect.signature(analysis).parameters
            result = analysis(table, metrics=metrics) if takes else analysis(table)
            figure = show_figure(DRAWN[name](result), f"{question.title}. {question.reading}", caption=question.reading)
        except InputError as error:
            refused[question.title] = str(error).removeprefix(f"{name}: ").removeprefix(f"{name} ")
            continue
        listed = Html("") if question.points else frame_table(result, name=words, most=MOST_ROWS, headings=2)
        sections.append(Section(question.title, joined([figure, listed]), question.asks))
    return sections, refused


def unanswered(refused: dict[str, str]) -> Section:
    """Return the section about analyses that do not apply."""
    titles: dict[str, list[str]] = {}
    for title, reason in refused.items():
        titles.setdefault(reason[:1].upper() + reason[1:], []).append(title)
    entries = [tag("li", tag("strong", "; ".join(of)), ". ", reason) for reason, of in titles.items()]
    about = "These analyses need something that the runs of this study do not have."
    return Section("What could not be answered", tag("ul", joined(entries)), about, "Not answered")
