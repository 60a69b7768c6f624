"""Code that a run folder names is imported only where that was asked for."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.training.hostile import CHANGES, MODULE, TRACE, make_hostile, rewrite
from tests.training.small import bars, trained
from unweave import Run
from unweave.errors import InputError, Unavailable
from unweave.own_code import check_own_code, imported, only_own_code, own_code_of, without_own_code
from unweave.reports import report
from unweave.training import open_run, read_configuration


@pytest.fixture(scope="module")
def tame(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("tame"))


@pytest.fixture(params=CHANGES)
def hostile(request: pytest.FixtureRequest, tmp_path: Path, tame: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return make_hostile(tame, tmp_path / "store", request.param, tmp_path)


def test_without_trust_no_code_is_imported(hostile: Path, tmp_path: Path) -> None:
    sentence = r"needs code outside of Unweave \(hostile_module:net\).* If you trust the author of the run, add --trust"
    for opening in (open_run, read_configuration):
        with pytest.raises(InputError, match=sentence):
            opening(hostile, trust=False)
    with pytest.raises(InputError, match=sentence):
        report(hostile, tmp_path / "report.html", trust=False)
    assert not (tmp_path / TRACE).exists()
    assert MODULE not in sys.modules


def test_the_second_wall_holds_alone(hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if json.loads((hostile / "configuration.json").read_text())["data"]["name"] != "own":
        return  # the data is not opened with the run
    monkeypatch.setattr("unweave.training.configuration.check_own_code", lambda *given: None)
    with pytest.raises((InputError, OSError), match="is not run here"):
        open_run(hostile, trust=False)
    assert not (tmp_path / TRACE).exists()


def test_python_imports_what_a_run_names_by_default(
    tmp_path: Path, tame: Run, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    request.addfinalizer(lambda: sys.modules.pop(MODULE, None))
    folder = make_hostile(tame, tmp_path / "store", "net", tmp_path)
    with pytest.raises((InputError, OSError), match=MODULE):  # it is imported, but has no net
        open_run(folder)
    assert (tmp_path / TRACE).exists()


@pytest.mark.parametrize("change", CHANGES)
def test_training_imports_nothing_that_its_folder_names(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = trained(tmp_path / "store")
    monkeypatch.chdir(tmp_path)
    rewrite(run.folder, change, tmp_path)
    with pytest.raises((InputError, Unavailable)):
        trained(tmp_path / "store").data()
    assert not (tmp_path / TRACE).exists()
    state = json.loads((run.folder / "state.json").read_text())
    (run.folder / "state.json").write_text(json.dumps({**state, "status": "interrupted"}))
    with pytest.raises((InputError, Unavailable)):
        trained(tmp_path / "store", data=bars())
    assert not (tmp_path / TRACE).exists()


def test_names_of_unweave_pass(tame: Run) -> None:
    check_own_code(json.loads((tame.folder / "configuration.json").read_text()))
    check_own_code({})
    check_own_code({"terms": [None, 3], "net": 4, "latent": [], "data": {"name": None}})


def test_all_parts_are_named_once() -> None:
    fields = {"net": "a:b", "latent": {"name": "c:d"}, "terms": [{"term": {"name": "a:b"}}], "data": {"name": "e:f"}}
    assert own_code_of(fields) == ["a:b", "c:d", "e:f"]


def test_imports_are_allowed_again_after_the_block() -> None:
    with without_own_code(), pytest.raises(InputError, match="is not run here"):
        imported("part", "json:loads")
    assert imported("part", "json:loads") is json.loads


def test_an_inner_block_allows_no_more_than_the_outer_one() -> None:
    with only_own_code(["json:loads"]):
        assert imported("part", "json:loads") is json.loads
        with only_own_code(["json:dumps"]), pytest.raises(InputError, match="is not run here"):
            imported("part", "json:dumps")
