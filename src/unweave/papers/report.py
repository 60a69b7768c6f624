"""The report of a finding: one HTML file with the claims, the published tables and the measured ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unweave.papers.finding import Answer, Finding, Part
from unweave.papers.page import effort
from unweave.reports.markup import Html, joined, tag
from unweave.reports.page import Section, make_page, write_page
from unweave.reports.tables import frame_table, make_table

if TYPE_CHECKING:
    import pandas


def write_report(finding: Finding, table: pandas.DataFrame, out: str | Path, *, command: str = "") -> Path:
    """Write the report of a finding from its table, and return its path."""
    answer = finding.answer(table)
    sections = [
        _claims(finding, answer),
        *(Section(part.title, _tables(part), about=part.note) for part in answer.parts),
    ]
    if command:
        sections.append(Section("Repeat it", tag("pre", tag("code", command))))
    lead = joined([tag("p", finding.sentence), tag("p", effort(table))])
    return write_page(out, make_page(finding.name, sections, lead=lead, kind=finding.paper))


def _claims(finding: Finding, answer: Answer) -> Section:
    rows = [[claim.sentence, claim.verdict, claim.evidence] for claim in answer.claims]
    body = [make_table(["claim", "at this scale", "numbers"], rows)]
    if finding.discussion:
        body.append(tag("p", finding.discussion))
    return Section("What agrees and what does not", joined(body))


def _tables(part: Part) -> Html:
    measured = joined([tag("h3", "As measured"), frame_table(part.measured)])
    if part.published is None:
        return measured
    return joined([tag("h3", "As published"), frame_table(part.published), measured])
