"""The document about a finding: built once from a table, and written as Markdown or HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unweave.errors import extra
from unweave.papers.catalogue import FINDINGS
from unweave.papers.evidence import finished
from unweave.papers.finding import Answer, Finding, Part, Picture
from unweave.reports.html import Html, Section, frame_table, joined, make_page, make_table, tag
from unweave.reports.report_figures import show_figure

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from unweave.study import Study


@dataclass(frozen=True)
class CodeBlock:
    """A command or a specification."""

    text: str


@dataclass(frozen=True)
class TableBlock:
    """A table with a heading of its own, which may be empty."""

    heading: str
    frame: pandas.DataFrame


@dataclass(frozen=True)
class PictureBlock:
    """A picture of a finding, with its figure if it was drawn now."""

    picture: Picture
    figure: Figure | None


Block = str | CodeBlock | TableBlock | PictureBlock


@dataclass(frozen=True)
class Document:
    """The title and the lead of a page, and its sections, each with a title and blocks."""

    finding: Finding
    answer: Answer
    lead: list[Block]
    sections: list[tuple[str, list[Block]]]

    @property
    def pictures(self) -> list[Picture]:
        """The pictures of the page, whether or not they were drawn now."""
        return [block.picture for _, section in self.sections for block in section if isinstance(block, PictureBlock)]

    @property
    def figures(self) -> list[tuple[Picture, Figure]]:
        """The pictures that were drawn."""
        blocks = (block for _, section in self.sections for block in section)
        return [
            (each.picture, each.figure) for each in blocks if isinstance(each, PictureBlock) and each.figure is not None
        ]


def write_document(
    finding: Finding,
    table: pandas.DataFrame,
    *,
    study: Study | None = None,
    command: str = "",
    text: str = "",
    draw: bool = True,
) -> Document:
    """Judge a table, draw its figures, and return what is said about them.

    Args:
        finding: The finding whose claims are judged.
        table: Its results.
        study: The study of these results; figures of runs are drawn only with it, or if nothing was trained.
        command: The command that computes the results.
        text: The specification of the study.
        draw: Whether figures are drawn.

    Returns:
        The document. The words about the stored results are part of it only if the table is the stored one.
    """
    answer, words = finding.answer(table), finding.words(table)
    drawable = [
        each for each in finding.figures if all(name in table and table[name].notna().any() for name in each.needs)
    ]
    pictures = [PictureBlock(each, each.draw(table) if draw else None) for each in drawable]
    views = draw and (study is not None or not finding.scales)
    pictures += [PictureBlock(each, each.draw(study) if views else None) for each in finding.views]
    sections: list[tuple[str, list[Block]]] = [
        ("What agrees and what does not", [_claims(answer), *_said(words.discussion)]),
        *([("Figures", list[Block](pictures))] if pictures else []),
        *((part.title, _part(part)) for part in answer.parts),
    ]
    if command or text:
        sections.append(("Repeat it", [CodeBlock(each) for each in (command, text) if each]))
    return Document(finding, answer, [finding.sentence, *_said(words.setting), effort(table)], sections)


def effort(table: pandas.DataFrame) -> str:
    """Return how many runs there were, with how many seeds, and how long they took."""
    if "seconds" not in table:
        return "Nothing is trained."
    table = table.drop_duplicates("run") if "run" in table else table  # grids may share runs
    runs = finished(table)
    hours = float(runs["seconds"].sum()) / 3600
    states = ", ".join(f"{count} {state}" for state, count in table["state"].value_counts().items())
    return (
        f"{len(table)} runs ({states}), {runs['seed'].nunique()} seeds, {hours:.1f} hours of one thread for training."
    )


def _claims(answer: Answer) -> TableBlock:
    rows = [{"claim": each.sentence, "verdict": each.verdict, "numbers": each.evidence} for each in answer.claims]
    return TableBlock("", extra("pandas", "study").DataFrame(rows, columns=["claim", "verdict", "numbers"]))


def _part(part: Part) -> list[Block]:
    published = [] if part.published is None else [TableBlock("As published", part.published)]
    return [*_said(part.note), *published, TableBlock("As measured", part.measured)]


def _said(text: str) -> list[Block]:
    return [text] if text else []


def page(document: Document) -> str:
    """Return a document as Markdown; every number on it is computed from the table."""
    finding, (sentence, *lead) = document.finding, document.lead
    command = CodeBlock(f"unweave paper run {finding.name}")
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
        if isinstance(block, CodeBlock):
            yield f"```\n{block.text}\n```"
        elif isinstance(block, TableBlock):
            yield from [f"{block.heading}:"] if block.heading else []
            yield markdown_table(block.frame)
        elif isinstance(block, PictureBlock):
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


def report(document: Document) -> str:
    """Return a document as the text of an HTML file."""
    sections = [Section(title, joined(map(_html, blocks))) for title, blocks in document.sections]
    finding = document.finding
    return make_page(finding.name, sections, lead=joined(map(_html, document.lead)), kind=finding.paper)


def _html(block: Block) -> Html:
    if isinstance(block, CodeBlock):
        return tag("pre", tag("code", block.text))
    if isinstance(block, TableBlock):
        if not block.heading:
            return make_table(list(block.frame), block.frame.to_numpy().tolist())
        return joined([tag("h3", block.heading), frame_table(block.frame)])
    if isinstance(block, PictureBlock):
        caption = block.picture.caption
        return Html("") if block.figure is None else show_figure(block.figure, caption, caption=caption)
    return joined(tag("p", re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text)) for text in block.split("\n\n"))
