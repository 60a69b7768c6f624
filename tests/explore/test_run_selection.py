from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import run
from tests.study.tiny import SPEC
from unweave import Run
from unweave.errors import InputError
from unweave.explore import find_selection
from unweave.explore.run_selection import Selection


def test_an_argument_is_a_run_a_study_or_a_store(store: Path, smooth: Run, tmp_path: Path) -> None:
    both = {folder.name for folder in store.iterdir()}
    selection = find_selection(str(store))
    assert (selection.kind, selection.title, selection.run) == ("store", "store", None)
    assert set(selection.folders()) == both
    for target in (smooth.name, smooth.name[:8], "smooth"):
        selection = find_selection(target, store=store)
        assert (selection.kind, selection.run, selection.store) == ("run", smooth.name, store)
    selection = find_selection(str(smooth.folder))
    assert (selection.kind, selection.run) == ("run", smooth.name)
    assert set(selection.folders()) == both  # so that it can be compared
    path = tmp_path / "tiny.toml"
    path.write_text(SPEC)
    selection = find_selection(str(path), store=tmp_path / "runs", trusted=True)
    assert (selection.kind, selection.title, len(selection.folders())) == ("study", "tiny", 6)
    assert selection.settings is not None
    assert {settings["recipe"] for settings in selection.settings.values()} == {"beta_vae", "ae"}


def test_a_folder_with_the_name_of_a_run_is_told_apart(
    store: Path,
    smooth: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_selection("smooth", store=store).note == ""
    (tmp_path / "smooth").mkdir()
    taken = find_selection("smooth", store=store)
    assert (taken.kind, taken.run) == ("run", smooth.name)
    assert taken.note == f"smooth was taken as a run of the store {store}; the folder smooth is named by ./smooth."
    monkeypatch.setenv("UNWEAVE_STORE", str(store))
    other = find_selection("smooth")
    assert (other.kind, other.store) == ("store", Path("smooth"))
    assert "smooth is a folder here, and was taken as a store; to open the run of that name" in other.note
    assert find_selection("./smooth").note == ""
    assert run(monkeypatch, "explore", "smooth", "--export", "page.html") == 2
    assert "--export takes one run" in (problem := capsys.readouterr().err)
    assert problem.endswith(f"to open the run of that name, add --store {store}.\n")


def test_a_study_with_code_of_its_own_needs_trust(tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(SPEC)
    with pytest.raises(InputError, match=r"tests\.study\.tiny:.* not run here\. .* add --trust"):
        find_selection(str(path), store=tmp_path)


@pytest.mark.parametrize("target", ["nothing", "./nothing", "nothing.toml", ""])
def test_what_is_not_there_is_refused(target: str, store: Path) -> None:
    with pytest.raises((InputError, OSError), match=r"there is no run|cannot read the study"):
        find_selection(target, store=store)


def test_a_missing_store_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UNWEAVE_STORE", raising=False)
    with pytest.raises(InputError, match="train a run first"):
        find_selection(None)
    with pytest.raises(InputError, match="there is no store"):
        find_selection(None, store=tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["", ".", "..", "../store", "/etc", "smooth", "a" * 1000, "\0", "%2e%2e"])
def test_only_exact_names_are_found(store: Path, smooth: Run, name: str) -> None:
    selection = find_selection(None, store=store)
    assert selection.folder(smooth.name) == smooth.folder
    with pytest.raises(LookupError, match="unknown run"):
        selection.folder(name)
    with pytest.raises(LookupError):
        selection.folder(smooth.name[:8])


def test_a_planned_run_of_a_study_has_not_started(store: Path) -> None:
    selection = Selection("study", "squares", store, settings={"0" * 16: {"recipe": "vae"}})
    with pytest.raises(LookupError, match="of the study squares has not started"):
        selection.folder("0" * 16)
    with pytest.raises(LookupError, match="unknown run"):
        selection.folder("1" * 16)


def test_a_run_that_is_trained_later_is_found(tmp_path: Path) -> None:
    selection = find_selection(str(tmp_path))
    with pytest.raises(LookupError):
        selection.folder("later")
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "configuration.json").write_text("{}")
    assert selection.folder("later") == tmp_path / "later"
