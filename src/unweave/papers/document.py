"""What is said about a finding, in order: built once from a table, and written as Markdown or HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unweave.errors import extra
from unweave.papers.finding import Answer, Finding, Part, Picture
from unweave.papers.summaries import finished

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from unweave.study import Study


@dataclass(frozen=True)
class Code:
    """A command or a specification."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table with a heading of its own, which may be empty."""

    heading: str
    frame: pandas.DataFrame


@dataclass(frozen=True)
class Drawn:
    """A picture of a finding, with its figure if it was drawn now."""

    picture: Picture
    figure: Figure | None


Block = str | Code | Table | Drawn


@dataclass(frozen=True)
class Document:
    """The title and the lead of a page, and its sections, each with a title and blocks."""

    finding: Finding
    answer: Answer
    lead: list[Block]
    sections: list[tuple[str, list[Block]]]

    @property
    def figures(self) -> list[tuple[Picture, Figure]]:
        """The pictures that were drawn."""
        blocks = (block for _, section in self.sections for block in section)
        return [(each.picture, each.figure) for each in blocks if isinstance(each, Drawn) and each.figure is not None]


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
    pictures = [Drawn(each, each.draw(table) if draw else None) for each in finding.figures]
    views = draw and (study is not None or not finding.scales)
    pictures += [Drawn(each, each.draw(study) if views else None) for each in finding.views]
    sections: list[tuple[str, list[Block]]] = [
        ("What agrees and what does not", [_claims(answer), *_said(words.discussion)]),
        *([("Figures", list[Block](pictures))] if pictures else []),
        *((part.title, _part(part)) for part in answer.parts),
    ]
    if command or text:
        sections.append(("Repeat it", [Code(each) for each in (command, text) if each]))
    return Document(finding, answer, [finding.sentence, *_said(words.setting), effort(table)], sections)


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


def _claims(answer: Answer) -> Table:
    rows = [{"claim": each.sentence, "verdict": each.verdict, "numbers": each.evidence} for each in answer.claims]
    return Table("", extra("pandas", "study").DataFrame(rows, columns=["claim", "verdict", "numbers"]))


def _part(part: Part) -> list[Block]:
    published = [] if part.published is None else [Table("As published", part.published)]
    return [*_said(part.note), *published, Table("As measured", part.measured)]


def _said(text: str) -> list[Block]:
    return [text] if text else []
