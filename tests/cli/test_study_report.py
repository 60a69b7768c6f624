from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import run
from tests.questions.tables import noise_table
from tests.reports.reading import check_self_contained

SPEC = 'name = "tiny"\n[[grid]]\nrecipe = "ae"\ndata = "xysquares"\n'


def test_the_report_of_a_study_and_of_a_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("study.toml").write_text(SPEC)
    assert run(monkeypatch, "study", "report", "study.toml") == 0
    assert "wrote study.html" in capsys.readouterr().out
    assert "unweave study run study.toml" in check_self_contained(Path("study.html").read_text()).text
    assert run(monkeypatch, "study", "report", "study.toml", "--udr", "--set", "steps=4") == 0
    assert "unweave study run study.toml --set steps=4" in check_self_contained(Path("study.html").read_text()).text
    noise_table("mig", data=("dsprites",), seeds=2).to_csv("runs.csv", index=False)
    assert run(monkeypatch, "study", "report", "--table", "runs.csv", "--out", "new/runs.html", "--quiet") == 0
    assert "18 runs of 3 methods on 1 data set" in check_self_contained(Path("new/runs.html").read_text()).text


def test_columns_of_another_project_are_analysed_when_they_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = noise_table("mig", data=("dsprites",), seeds=2).rename(columns={"mig": "their_score"})
    table.to_csv("runs.csv", index=False)
    assert run(monkeypatch, "study", "report", "--table", "runs.csv", "--quiet") == 0
    needed = "Needs at least one column of scores such as follows, mig"
    assert needed in check_self_contained(Path("study.html").read_text()).text
    words = ("study", "report", "--table", "runs.csv", "--quiet", "--metric")
    assert run(monkeypatch, *words, "their_score") == 0
    text = check_self_contained(Path("study.html").read_text()).text
    assert needed not in text
    assert "Best runs" in text
    assert "their score" in text.replace("_", " ")
    assert run(monkeypatch, *words, "their_scores") == 2
    assert "Did you mean 'their_score'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give either SPEC or --table FILE"),
        (["study.toml", "--table", "runs.csv"], "give either SPEC or --table FILE"),
        (["study.toml", "--out", "study.pdf"], "--out must end in .html"),
        (["--table", "runs.csv", "--beside", "more.csv"], "--beside adds results to those of SPEC"),
        (["--table", "runs.csv", "--udr"], "--udr needs the runs of SPEC"),
        (["--table", "runs.csv", "--set", "steps=4"], "--set changes the runs of SPEC"),
        (["study.toml", "--out", "folder.html"], "it is a folder"),
        (["nowhere.toml"], "cannot read the study nowhere.toml"),
        (["--table", "nowhere.csv"], "cannot read nowhere.csv"),
        (["--table", "study.toml"], "--table must end in .csv, .parquet or .json"),
        (["--table", "empty.csv"], "empty.csv is not a table"),
        (["--table", "text.parquet"], "text.parquet is not a table"),
    ],
)
def test_wrong_words_are_a_sentence(
    words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("study.toml").write_text(SPEC)
    Path("folder.html").mkdir()
    Path("empty.csv").touch()
    Path("text.parquet").write_text("no")
    assert run(monkeypatch, "study", "report", *words) == 2
    assert message in capsys.readouterr().err
