"""The report of a finding: one HTML file with the claims, the published tables and the measured ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from unweave.papers.finding import Answer, Finding, Part, Picture
from unweave.papers.page import effort
from unweave.reports.html.embedded_figures import show_figure
from unweave.reports.html.markup import Html, joined, tag
from unweave.reports.html.page import Section, make_page, write_page
from unweave.reports.html.tables import frame_table, make_table

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from unweave.study import Study


def write_report(
    finding: Finding, table: pandas.DataFrame, out: str | Path, *, study: Study | None = None, command: str = ""
) -> Path:
    """Write the report of a finding from its table, and return its path.

    With the study, or for a finding that trains nothing, it also shows pictures of the runs.
    """
    answer = finding.answer(table)
    sections = [
        _claims(finding, answer),
        *_pictures(finding, table, study),
        *(Section(part.title, _tables(part), about=part.note) for part in answer.parts),
    ]
    if command:
        sections.append(Section("Repeat it", tag("pre", tag("code", command))))
    lead = joined([tag("p", text) for text in (finding.sentence, finding.setting, effort(table)) if text])
    return write_page(out, make_page(finding.name, sections, lead=lead, kind=finding.paper))


def _claims(finding: Finding, answer: Answer) -> Section:
    rows = [[claim.sentence, claim.verdict, claim.evidence] for claim in answer.claims]
    body = [make_table(["claim", "at this scale", "numbers"], rows)]
    if finding.discussion:
        body.append(tag("p", finding.discussion))
    return Section("What agrees and what does not", joined(body))


def drawn(finding: Finding, table: pandas.DataFrame, study: Study | None) -> Iterator[tuple[Picture, Figure]]:
    """Draw the figures of a finding from its table, and from its runs where there are some."""
    for figure in finding.figures:
        yield figure, figure.draw(table)
    if study is not None or not finding.specs:
        for view in finding.views:
            yield view, view.draw(study)


def _pictures(finding: Finding, table: pandas.DataFrame, study: Study | None) -> list[Section]:
    shown = [
        show_figure(figure, picture.caption, caption=picture.caption)
        for picture, figure in drawn(finding, table, study)
    ]
    return [Section("Figures", joined(shown))] if shown else []


def _tables(part: Part) -> Html:
    measured = joined([tag("h3", "As measured"), frame_table(part.measured)])
    if part.published is None:
        return measured
    return joined([tag("h3", "As published"), frame_table(part.published), measured])
