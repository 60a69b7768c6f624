"""From the name of a finding to its study and its table."""

from pathlib import Path

import pytest

from unweave.errors import InputError, Unavailable
from unweave.papers import FINDINGS, find, read_table, run_paper, study_of


def test_the_scales_of_a_finding_are_its_specifications(tmp_path: Path) -> None:
    study = study_of("challenging-assumptions", "paper", tmp_path)
    assert study is not None
    assert len(study.planned) == 12_600
    assert study_of("impossibility", "lite") is None


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


def test_a_table_that_was_written_is_read_back(tmp_path: Path) -> None:
    table = run_paper("impossibility")
    table.to_csv(tmp_path / "table.csv", index=False)
    again = read_table("impossibility", tmp_path / "table.csv")
    assert find("impossibility").answer(again).claims == FINDINGS["impossibility"].answer(table).claims


def test_a_missing_table_says_how_to_compute_it(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="unweave paper run tripod"):
        read_table("tripod", tmp_path / "none.csv")
