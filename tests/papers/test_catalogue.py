"""A finding by name: its folder, its study and its stored results."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import unweave.papers
from unweave.data import identity_of
from unweave.errors import InputError
from unweave.nets.choice import NETS
from unweave.papers import EXHIBITS, FINDINGS, Exhibit, exhibits_page, find, stored_results, study_of
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


def test_every_folder_is_a_finding_with_what_it_needs() -> None:
    folders = {path.parent for path in Path(unweave.papers.__file__).parent.glob("*/__init__.py")}
    assert folders == {finding.folder for finding in FINDINGS.values()}
    assert len(stored_results()) == sum((folder / "results.csv").is_file() for folder in folders)
    assert find("impossibility").scales == ()
    assert find("combinations").scales == ("lite",)


def test_the_study_of_a_finding_has_its_scale(tmp_path: Path) -> None:
    study = study_of("challenging-assumptions", "paper", tmp_path)
    assert study is not None
    assert len(study.planned) == 12_600
    assert study_of("impossibility", "lite") is None
    assert find("natural_patches") is find("natural-patches")


@pytest.mark.parametrize(
    ("name", "scale", "message"),
    [
        ("tripd", "lite", "did you mean 'tripod'"),
        ("tripod", "light", "did you mean 'lite'"),
        ("combinations", "paper", "it has lite"),
    ],
)
def test_unknown_names_are_refused(name: str, scale: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        study_of(name, scale)


@pytest.mark.parametrize("name", [name for name, finding in FINDINGS.items() if finding.stored() is not None])
def test_words_belong_to_the_stored_results_only(name: str) -> None:
    finding = FINDINGS[name]
    stored = finding.stored()
    assert stored is not None
    assert finding.words(stored).discussion
    number = stored.select_dtypes("float").columns[0]
    others = stored.copy()
    others.loc[0, number] += 0.001
    assert finding.words(others) == finding.words(stored.iloc[1:]) == unweave.papers.finding.Words()


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
