"""The page of a finding in Markdown, and the page that lists all findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from unweave.papers.catalogue import FINDINGS
from unweave.papers.document import Block, Code, Document, Drawn, Table
from unweave.papers.finding import Answer, Finding, Picture

if TYPE_CHECKING:
    import pandas


def page(document: Document) -> str:
    """Return a document as Markdown; every number on it is computed from the table."""
    finding, (sentence, *lead) = document.finding, document.lead
    command = Code(f"unweave paper run {finding.name}")
    parts = [f"# {finding.name}", f"*{finding.paper}.* {sentence}", *_blocks(finding, [command, *lead])]
    for title, blocks in document.sections:
        parts += [f"## {title}", *_blocks(finding, blocks)]
    return "\n\n".join(parts) + "\n"


def overview(answers: Mapping[str, Answer]) -> str:
    """Return the page that lists all findings, with how many claims of each are shown where it has an answer."""
    lines = [
        "# The papers' findings",
        "",
        "Each finding is tested by one command, `unweave paper run NAME`, which can be stopped and continued. The "
        "pages are written from stored results (`unweave paper pages`): the numbers on them are computed, not typed. "
        "`--scale paper` is the published protocol. A claim counts as shown by a rule that its page states: usually "
        "that all seeds of one method exceed all seeds of another, or a t-test.",
        "",
        "| finding | paper | what it says | claims shown |",
        "|---|---|---|---|",
    ]
    for name, finding in FINDINGS.items():
        shown, title = "not run yet", name
        if name in answers:
            claims = answers[name].claims
            shown = f"{sum(claim.shown is True for claim in claims)} of {len(claims)}"
            title = f"[{name}]({name}.md)"
        lines.append(f"| {title} | {finding.paper} | {_cell(finding.sentence)} | {shown} |")
    return "\n".join(lines) + "\n"


def _blocks(finding: Finding, blocks: Iterable[Block]) -> Iterable[str]:
    for block in blocks:
        if isinstance(block, Code):
            yield f"```\n{block.text}\n```"
        elif isinstance(block, Table):
            yield from [f"{block.heading}:"] if block.heading else []
            yield markdown_table(block.frame)
        elif isinstance(block, Drawn):
            yield f"![{block.picture.caption}]({picture_file(finding, block.picture)})"
            yield f"*{block.picture.caption}*"
        else:
            yield block


def picture_file(finding: Finding, picture: Picture) -> str:
    """Return the name of the file of a picture, beside the page."""
    return f"{finding.name}-{picture.name}.png"


def markdown_table(frame: pandas.DataFrame) -> str:
    """Return a frame as a Markdown table; missing values are empty."""
    lines = ["| " + " | ".join(_cell(name) for name in frame) + " |", "|" + "---|" * len(frame.columns)]
    lines += [
        "| " + " | ".join(_cell(value) for value in row) + " |" for row in frame.itertuples(index=False, name=None)
    ]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        if value != value:
            return ""
        return f"{value:.6g}"
    return str(value).replace("|", "\\|").replace("\n", " ")
