"""From the name of a finding to its folder, its study and its stored results."""

from __future__ import annotations

from pathlib import Path

import pytest

import unweave.papers
from unweave.errors import InputError
from unweave.papers import FINDINGS, find, stored_results, study_of


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
