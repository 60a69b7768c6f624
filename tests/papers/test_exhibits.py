from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from unweave.data import identity_of
from unweave.nets.choice import NETS
from unweave.papers import EXHIBITS, Exhibit, exhibits_page, find
from unweave.questions import figure_named
from unweave.study.spec import shipped_names

FIGURES_MD = Path(__file__).parents[2] / "docs" / "papers" / "figures.md"
KNOWN: dict[str, Callable[[str], object]] = {
    "paper run": find,
    "figure": figure_named,
    "nets show": NETS.__getitem__,
    "data show": identity_of,
    "data distances": identity_of,
    "study plan": lambda name: shipped_names().index(name),
    "study table": lambda name: shipped_names().index(name),
}


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda each: f"{each.paper} {each.number}")
def test_commands_name_what_exists(exhibit: Exhibit) -> None:
    program, *words = shlex.split(exhibit.command)
    command = next(known for known in KNOWN if words[: known.count(" ") + 1] == known.split())
    assert program == "unweave"
    KNOWN[command](words[command.count(" ") + 1])
    if "--study" in words:
        assert words[words.index("--study") + 1] in shipped_names()


def numbers(paper: str, kind: str) -> set[str]:
    """The figures or tables of a paper that are listed."""
    found: set[str] = set()
    for each in EXHIBITS:
        if each.paper.startswith(paper) and each.number.lower().startswith(kind):
            for part in re.sub(r"^\w+ ", "", each.number).split(", "):
                first, _, last = part.partition(" to ")
                found |= {str(n) for n in range(int(first), int(last) + 1)} if last else {part}
    return found


def test_every_figure_and_table_is_listed() -> None:
    assert numbers("Rhodes", "figure") == {str(n) for n in range(1, 11)}
    assert numbers("Michlo", "figure") == {*(str(n) for n in range(2, 12)), "A1"}
    assert numbers("Locatello", "figure") == {str(n) for n in range(1, 17)}
    assert numbers("Hsu", "figure") == {str(n) for n in range(2, 11)}
    tables = {paper: numbers(paper, "table") for paper in ("Rhodes", "Michlo", "Locatello", "Hsu")}
    assert tables == {
        "Rhodes": {"1", "2"},
        "Michlo": {"A1", "A2", "A4"},
        "Locatello": {"1", "2", "3", "4"},
        "Hsu": {"1", "2", "4", "5", "6"},
    }


def test_the_page_of_the_docs_is_the_list() -> None:
    assert FIGURES_MD.read_text(encoding="utf-8") == exhibits_page()
