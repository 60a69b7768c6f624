from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.training.small import trained
from unweave.errors import InputError, Unavailable
from unweave.store.folder import (
    check_label,
    existing_store,
    find_run,
    read_fields,
    read_label,
    remove_run,
    runs_in,
    store_folder,
    write_label,
)
from unweave.store.lock import beating, locked
from unweave.store.state import State, read_state, status_of, write_state


def test_where_runs_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UNWEAVE_STORE", raising=False)
    assert store_folder() == Path("runs")
    assert existing_store() == Path("runs")  # the default may be empty
    with pytest.raises(InputError, match="there is no store mistyped"):
        existing_store("mistyped")
    with pytest.raises(InputError, match="must be a folder, got an empty name"):
        store_folder("")
    monkeypatch.setenv("UNWEAVE_STORE", "/elsewhere")
    assert store_folder() == Path("/elsewhere")
    assert store_folder("here") == Path("here")


def test_the_store_needs_no_torch() -> None:
    script = "import sys, unweave.store.folder; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "False\n"


def test_a_state_comes_back_as_it_was(tmp_path: Path) -> None:
    assert read_state(tmp_path) is None
    state = State("failed", 3, "v", 1.5, "no", "Traceback", psnr=20.0, threads=2)
    write_state(tmp_path, state)
    again = read_state(tmp_path)
    assert again is not None
    assert again.time > 0
    assert {**vars(again), "time": 0.0} == vars(state)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "it is not valid JSON"),
        ("[]", "it is not a JSON object"),
        ('{"status": "running", "version": "v"}', "its field step is missing"),
        ('{"status": "running", "step": 1, "version": "v", "colour": "red"}', "its field colour is unknown"),
    ],
)
def test_a_damaged_state_file_is_a_sentence(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(text)
    with pytest.raises(Unavailable, match=rf"state.json is damaged \({reason}.*\): remove it, and the run continues"):
        read_state(tmp_path)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("status", ("bogus", 3, None, [])),
        ("step", ("1", -1, True, 1.0, None, 10**15 + 1)),
        ("version", (3, None)),
        ("seconds", ("long", -1.0, None, 10**400, float("nan"), float("inf"), True)),
        ("error", (None, [])),
        ("traceback", (None, 3)),
        ("diverged", (0, "false", None)),
        ("psnr", ("high", 10**400, float("nan"), float("-inf"), False, [])),
        ("baseline", ({}, 10**400)),
        ("threads", (True, 1.5, "2")),
        ("time", (None, "now", 10**400)),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(field: str, values: tuple[object, ...], tmp_path: Path) -> None:
    for value in values:
        state = {"status": "running", "step": 1, "version": "v", field: value}
        (tmp_path / "state.json").write_text(json.dumps(state))
        with pytest.raises(Unavailable, match=rf"state.json is damaged \(its field {field} is [^{{}}]*\): remove it"):
            read_state(tmp_path)


def test_stopped_is_said_of_runs_whose_process_has_died(tmp_path: Path) -> None:
    assert status_of(tmp_path, "") == "not started"
    assert status_of(tmp_path, "running") == "stopped"
    with beating(tmp_path):
        assert status_of(tmp_path, "running") == "running"
        assert status_of(tmp_path, "") == "running"
    assert status_of(tmp_path, "interrupted") == "interrupted"


def test_a_damaged_configuration_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a run"):
        read_fields(tmp_path)
    for text in ("{", "[]"):
        (tmp_path / "configuration.json").write_text(text)
        with pytest.raises(Unavailable, match=r"configuration.json is damaged \(it is not"):
            read_fields(tmp_path)


def test_runs_are_found_by_first_digits_labels_and_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert runs_in(tmp_path / "none") == []
    first, second = (trained(tmp_path, "ae", steps=1, seed=seed) for seed in (0, 1))
    assert set(runs_in(tmp_path)) == {first.folder, second.folder}
    assert find_run(first.name[:8], tmp_path) == first.folder
    assert find_run(str(second.folder), tmp_path / "none") == second.folder
    write_label(first.folder, "best")
    assert find_run("best", tmp_path) == first.folder
    assert read_label(first.folder) == "best"
    write_label(first.folder, "")
    assert read_label(first.folder) == ""
    for wrong in ("zz", "", "best"):
        with pytest.raises(InputError, match=f"there is no run '{wrong}' in the store"):
            find_run(wrong, tmp_path)
    with pytest.raises(InputError, match="there is no run in the folder"):
        find_run("./zz", tmp_path)


def test_latest_is_the_run_that_was_begun_last(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no run in the store"):
        find_run("latest", tmp_path)
    folders = [tmp_path / (digit * 16) for digit in "abc"]
    for folder, seconds in zip(folders, (200, 300, 100), strict=True):
        folder.mkdir()
        (folder / "configuration.json").write_text("{}")
        os.utime(folder / "configuration.json", (seconds, seconds))
    assert find_run("latest", tmp_path) == folders[1]
    write_label(folders[2], "latest")  # what the user has named so comes first
    assert find_run("latest", tmp_path) == folders[2]


@pytest.mark.parametrize(
    ("label", "reason"),
    [
        ("0123456789abcdef", "looks like the name of a run"),
        ("0138", "looks like the name of a run"),
        ("CAFE", "looks like the name of a run"),
        (" ", "must not be blank"),
        (".", "must not look like a path"),
        ("..", "must not look like a path"),
        ("a/b", "must not look like a path"),
        ("a\\b", "must not look like a path"),
        ("a\nb", "must be one line"),
        ("a\udcff", "must be one line"),
        (3, "must be a string, got 3"),
        (None, "must be a string, got None"),
    ],
)
def test_labels_that_cannot_name_a_run_are_refused(label: object, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        check_label(label)


def fake_run(store: Path, name: str) -> Path:
    (store / name).mkdir()
    (store / name / "configuration.json").write_text("{}")
    return store / name


def test_a_label_belongs_to_one_run_of_a_store(tmp_path: Path) -> None:
    first, second = (fake_run(tmp_path, name) for name in ("8ca7000000000000", "0138000000000000"))
    assert [check_label(label) for label in ("", "best", " my run 2 ")] == ["", "best", "my run 2"]
    write_label(first, " best ")
    write_label(first, "best")  # its own
    assert read_label(first) == "best"
    with pytest.raises(InputError, match="the run 8ca7000000000000 of this store already has the label 'best'"):
        write_label(second, "best")
    with pytest.raises(InputError, match="already has the label"):
        check_label("best", tmp_path, second.name)
    assert check_label("best", tmp_path, first.name) == "best"
    write_label(first, "")
    write_label(second, "best")
    assert find_run("best", tmp_path) == second


def test_a_label_from_elsewhere_does_not_hide_the_name_of_another_run(tmp_path: Path) -> None:
    first, second = (fake_run(tmp_path, name) for name in ("8ca7000000000000", "0138000000000000"))
    (first / "label").write_text("0138\n")
    with pytest.raises(InputError, match="'0138' matches 2 runs of the store"):
        find_run("0138", tmp_path)
    (first / "label").write_text(f"{second.name}\n")
    assert find_run(second.name, tmp_path) == second


def test_a_name_is_looked_up_in_the_store_and_not_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = (trained(tmp_path / store, "ae", steps=1) for store in "ab")
    monkeypatch.chdir(tmp_path / "a")
    assert find_run(here.name, tmp_path / "b") == there.folder
    with pytest.raises(InputError, match=f"To name a run by its folder, write ./{here.name}"):
        find_run(here.name, tmp_path / "c")


def test_runs_are_removed_whole(tmp_path: Path) -> None:
    run = trained(tmp_path, "ae", steps=1)
    link = tmp_path / "links" / run.name
    link.parent.mkdir()
    link.symlink_to(run.folder)
    remove_run(link)
    assert not link.exists()
    assert run.folder.exists()
    remove_run(run.folder)
    assert runs_in(tmp_path) == []


def test_what_is_no_run_or_under_way_is_not_removed(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "configuration.json").write_text(json.dumps({}))
    with pytest.raises(InputError, match="is not named like a run"):
        remove_run(tmp_path / "precious")
    run = trained(tmp_path, "ae", steps=1)
    with locked(run.folder), pytest.raises(InputError, match="being trained by another process"):
        remove_run(run.folder)
    assert run.folder.exists()
