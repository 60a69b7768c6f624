"""``unweave paper``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.running import run
from unweave.papers import FINDINGS


def test_the_findings_are_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "paper", "list", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in listed] == list(FINDINGS)
    assert listed[0]["scales"] == ["lite", "paper"]


def test_an_exact_finding_is_computed_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "paper", "run", "impossibility", "--out", str(tmp_path)) == 0
    assert "shown" in capsys.readouterr().out
    assert (tmp_path / "impossibility.html").is_file()
    assert (tmp_path / "impossibility.csv").read_text("utf-8").startswith("marginal,dimensions")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "imposibility"], "did you mean 'impossibility'"),
        (["run", "tripod", "--scale", "lit"], "did you mean 'lite'"),
        (["run", "combinations", "--scale", "paper"], "it has lite"),
    ],
)
def test_wrong_names_are_refused(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (
        run(monkeypatch, "paper", *arguments, "--store", str(tmp_path / "store"), "--out", str(tmp_path / "out")) == 2
    )
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_pages_are_written_for_the_tables_that_come_with_unweave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(monkeypatch, "paper", "pages", "elsewhere", "--out", str(tmp_path)) == 2  # one of them
    assert run(monkeypatch, "paper", "pages", "--out", str(tmp_path)) == 0
    pages = {path.stem for path in tmp_path.glob("*.md")}
    assert pages == {name for name, finding in FINDINGS.items() if finding.stored() is not None} | {"index", "figures"}
    assert "unweave figure interventions RUN" in (tmp_path / "figures.md").read_text(encoding="utf-8")


def test_stored_results_are_shown_without_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("unweave.cli.paper.carry_out", lambda *_, **__: pytest.fail("nothing is trained"))
    assert run(monkeypatch, "paper", "show", "local_disentanglement") == 0
    said = capsys.readouterr().out
    assert "results.csv" in said
    assert re.search(r"^shown ", said, re.MULTILINE)
    out = tmp_path / "page.html"
    assert run(monkeypatch, "paper", "show", "impossibility", "--out", str(out)) == 0
    assert "<h1>" in out.read_text(encoding="utf-8")
    assert run(monkeypatch, "paper", "show", "impossibility", "--json") == 0
    assert run(monkeypatch, "paper", "figures") == 0
    assert "unweave figure interventions RUN" in capsys.readouterr().out


def test_a_paper_says_first_how_many_runs_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("unweave.cli.paper.carry_out", stop)
    monkeypatch.setattr("unweave.study.study.Study.estimate", lambda *_, **__: None)
    assert run(monkeypatch, "paper", "run", "combinations", "--store", str(tmp_path)) != 0
    said = capsys.readouterr().out
    assert re.search(r"combinations[-\w]*: (\d+) of \1 runs are left", said)
    assert "stored results: " in said
