"""The report of a finding: one HTML file with the claims, the published tables and the measured ones."""

from __future__ import annotations

import re

from unweave.papers.document import Block, Code, Document, Drawn, Table
from unweave.reports.html.embedded_figures import show_figure
from unweave.reports.html.markup import Html, joined, tag
from unweave.reports.html.page import Section, make_page
from unweave.reports.html.tables import frame_table, make_table


def report(document: Document) -> str:
    """Return a document as the text of an HTML file."""
    sections = [Section(title, joined(map(_html, blocks))) for title, blocks in document.sections]
    finding = document.finding
    return make_page(finding.name, sections, lead=joined(map(_html, document.lead)), kind=finding.paper)


def _html(block: Block) -> Html:
    if isinstance(block, Code):
        return tag("pre", tag("code", block.text))
    if isinstance(block, Table):
        if not block.heading:
            return make_table(list(block.frame), block.frame.to_numpy().tolist())
        return joined([tag("h3", block.heading), frame_table(block.frame)])
    if isinstance(block, Drawn):
        caption = block.picture.caption
        return Html("") if block.figure is None else show_figure(block.figure, caption, caption=caption)
    return joined(tag("p", re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text)) for text in block.split("\n\n"))
