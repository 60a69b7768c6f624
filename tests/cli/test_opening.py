"""Every command that opens runs refuses code that a run folder names, unless it is trusted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.training.hostile import CHANGES, MODULE, TRACE, make_hostile
from tests.training.small import trained
from unweave import Run

OPENING: dict[str, list[str]] = {
    "figure": ["figure", "samples", "RUN"],
    "figure of data": ["figure", "perceived_distances", "RUN"],
    "figure of a table": ["figure", "score_strips", "RUN"],
    "report": ["report", "RUN"],
    "report with scores": ["report", "RUN", "--score"],
    "export": ["export", "RUN"],
    "score": ["score", "RUN", "--metric", "mig"],
    "train": ["train", "--from", "RUN"],
    "extend": ["runs", "extend", "RUN", "--steps", "20"],
    "pictures": ["runs", "pictures", "RUN"],
    "exported page": ["explore", "RUN", "--export", "page.html"],
}
READING: dict[str, list[str]] = {
    "list": ["runs", "list"],
    "show": ["runs", "show", "RUN"],
    "label": ["runs", "label", "RUN", "theirs"],
    "remove": ["runs", "rm", "RUN", "--yes"],
}


@pytest.fixture(scope="module")
def tame(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("tame"))


@pytest.fixture
def hostile(tmp_path: Path, tame: Run) -> Path:
    return make_hostile(tame, tmp_path / "runs", "net", tmp_path)


def _typed(command: list[str], folder: Path) -> list[str]:
    return [str(folder) if word == "RUN" else word for word in command]


@pytest.mark.parametrize("command", OPENING)
def test_a_run_folder_can_run_no_code(
    command: str, hostile: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *_typed(OPENING[command], hostile)) == 2
    refused = capsys.readouterr().err
    assert "needs code outside of Unweave (hostile_module:net), which could do anything on this machine." in refused
    assert "add --trust" in refused
    assert not Path(TRACE).exists()
    assert MODULE not in sys.modules


@pytest.mark.parametrize("command", OPENING)
def test_with_trust_it_can(
    command: str, hostile: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(lambda: sys.modules.pop(MODULE, None))
    assert run(monkeypatch, *_typed(OPENING[command], hostile), "--trust") != 0  # the module has no net
    assert Path(TRACE).exists()


@pytest.mark.parametrize("change", CHANGES)
def test_no_part_of_a_configuration_is_imported(
    change: str, tmp_path: Path, tame: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_hostile(tame, tmp_path / "runs", change, tmp_path)
    for command in ("figure", "report", "score", "export"):
        assert run(monkeypatch, *_typed(OPENING[command], folder)) == 2
    assert not Path(TRACE).exists()


@pytest.mark.parametrize("command", READING)
def test_commands_that_only_read_need_no_trust(command: str, hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, *_typed(READING[command], hostile)) == 0
    assert not Path(TRACE).exists()


def test_nothing_is_opened_if_one_of_several_runs_is_refused(
    hostile: Path, tame: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(monkeypatch, "score", str(tame.folder), str(hostile), "--metric", "mig") == 2
    assert not (tame.folder / "scores.json").exists()
