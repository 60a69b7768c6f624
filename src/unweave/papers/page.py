"""The page of a finding, in Markdown: what was claimed, what was measured, and what follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from unweave.papers.catalogue import FINDINGS
from unweave.papers.finding import Answer, Finding, Picture
from unweave.papers.summaries import finished

if TYPE_CHECKING:
    import pandas


def page(finding: Finding, table: pandas.DataFrame) -> str:
    """Return the page of a finding; every number on it is computed from the table."""
    return "\n".join(_lines(finding, finding.answer(table), table)) + "\n"


def overview(tables: Mapping[str, pandas.DataFrame]) -> str:
    """Return the page that lists all findings, with how many claims of each are shown where it has a table."""
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
        if name in tables:
            claims = finding.answer(tables[name]).claims
            shown = f"{sum(claim.shown is True for claim in claims)} of {len(claims)}"
            title = f"[{name}]({name}.md)"
        lines.append(f"| {title} | {finding.paper} | {_cell(finding.sentence)} | {shown} |")
    return "\n".join(lines) + "\n"


def _lines(finding: Finding, answer: Answer, table: pandas.DataFrame) -> Iterator[str]:
    yield f"# {finding.name}\n"
    yield f"*{finding.paper}.* {finding.sentence}\n"
    yield f"```\nunweave paper run {finding.name}\n```\n"
    if finding.setting:
        yield f"{finding.setting}\n"
    yield f"{effort(table)}\n"
    yield "## What agrees and what does not\n"
    yield "| claim | at this scale | numbers |\n|---|---|---|"
    for claim in answer.claims:
        yield f"| {_cell(claim.sentence)} | {claim.verdict} | {_cell(claim.evidence)} |"
    yield ""
    if finding.discussion:
        yield f"{finding.discussion}\n"
    for picture in (*finding.figures, *finding.views):
        yield f"![{picture.caption}]({picture_file(finding, picture)})\n"
        yield f"*{picture.caption}*\n"
    for part in answer.parts:
        yield f"## {part.title}\n"
        if part.note:
            yield f"{part.note}\n"
        if part.published is not None:
            yield "As published:\n"
            yield f"{markdown_table(part.published)}\n"
        yield "As measured:\n"
        yield f"{markdown_table(part.measured)}\n"


def picture_file(finding: Finding, picture: Picture) -> str:
    """Return the name of the file of a picture, beside the page."""
    return f"{finding.name}-{picture.name}.png"


def effort(table: pandas.DataFrame) -> str:
    """Return how many runs there were, with how many seeds, and how long they took."""
    if "seconds" not in table:
        return "Nothing is trained."
    runs = finished(table)
    hours = float(runs["seconds"].sum()) / 3600
    states = ", ".join(f"{count} {state}" for state, count in table["state"].value_counts().items())
    return (
        f"{len(table)} runs ({states}), {runs['seed'].nunique()} seeds, {hours:.1f} hours of one thread for training."
    )


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
