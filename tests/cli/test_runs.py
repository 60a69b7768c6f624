from __future__ import annotations

import json
from pathlib import Path

import pytest

import unweave
from tests.cli.running import run
from tests.training.small import bars, trained
from unweave.store.state import State, write_state
from unweave.training import score


def test_runs_are_listed_shown_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = (trained(tmp_path / "runs", steps=2, seed=seed, log_steps=1, beta=seed + 1) for seed in (0, 1))
    assert run(monkeypatch, "runs", "list") == 0
    shown = capsys.readouterr().out
    assert shown.index(first.name) < shown.index(second.name)
    assert "2 of 2" in shown
    assert "kl.weight=1.0" in shown
    assert "kl.weight=2.0" in shown
    assert "batch" not in shown  # the same in both
    assert run(monkeypatch, "runs", "show", first.name[:6], "--store", "runs") == 0
    shown = capsys.readouterr().out
    assert '"recipe": "beta_vae"' in shown
    assert "finished" in shown
    assert "reconstruction" in shown
    assert run(monkeypatch, "runs", "latest", "--json") == 0
    assert json.loads(capsys.readouterr().out)["run"] == second.name
    assert unweave.open("latest").name == unweave.open("latest", store="runs").name == second.name
    assert run(monkeypatch, "runs", "rm", first.name, f"./runs/{second.name}", "--yes") == 0
    assert not first.folder.exists()
    assert not second.folder.exists()


def test_rm_asks_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    made = trained(tmp_path / "runs", "ae", steps=1)
    monkeypatch.setattr("typer.confirm", lambda question: False)
    assert run(monkeypatch, "runs", "rm", made.name) == 1
    assert "nothing was removed" in capsys.readouterr().out
    assert made.folder.exists()
    monkeypatch.setattr("typer.confirm", lambda question: True)
    assert run(monkeypatch, "runs", "rm", made.name) == 0
    assert not made.folder.exists()


def test_rm_takes_a_name_from_the_store_that_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here, there = (trained(tmp_path / store, "ae", steps=1) for store in "ab")
    monkeypatch.chdir(tmp_path / "a")
    assert run(monkeypatch, "runs", "rm", here.name, "--store", "../b", "--yes") == 0
    assert here.folder.exists()
    assert not there.folder.exists()


def test_lists_are_filtered_and_written_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = trained(tmp_path / "runs", "ae", steps=1)
    second = trained(tmp_path / "runs", "vae", steps=1)
    third = trained(tmp_path / "runs", "beta_vae", data=unweave.load("xysquares", size=16), steps=1)
    write_state(second.folder, State("running", 1, "v"))
    assert run(monkeypatch, "runs", "label", second.name[:8], "mine") == 0
    capsys.readouterr()
    assert run(monkeypatch, "runs", "list", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["run"], row["label"], row["state"]) for row in rows] == [
        (first.name, "", "finished"),
        (second.name, "mine", "stopped"),
        (third.name, "", "finished"),
    ]
    for words, expected in (
        (["--recipe", "vae"], [second.name]),
        (["--recipe", "beta-vae"], [third.name]),
        (["--data", "xysquares,size=16"], [third.name]),
        (["--data", "xysquares,size=32"], []),
        (["--state", "finished"], [first.name, third.name]),
        (["--state", "stopped"], [second.name]),
        (["--data", "dsprites"], []),
    ):
        assert run(monkeypatch, "runs", "list", "--json", *words) == 0
        assert [row["run"] for row in json.loads(capsys.readouterr().out)] == expected
    assert run(monkeypatch, "runs", "show", "mine", "--json") == 0
    assert json.loads(capsys.readouterr().out)["state"] == "stopped"


def test_the_store_can_be_set_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("UNWEAVE_STORE", str(tmp_path / "elsewhere"))
    trained(None, steps=2)  # type: ignore[arg-type]
    assert len(list((tmp_path / "elsewhere").iterdir())) == 1
    assert run(monkeypatch, "runs", "list") == 0
    assert "beta_vae" in capsys.readouterr().out


def test_wrong_runs_and_stores_are_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "runs", "show", "abc") == 2
    assert "there is no run 'abc'" in capsys.readouterr().err
    for words in (["--store", "mistyped"], ["--store", ""]):
        assert run(monkeypatch, "runs", "list", *words) == 2
        assert "store" in capsys.readouterr().err
    kept = trained(tmp_path / "runs", steps=2)
    assert run(monkeypatch, "runs", "rm", kept.name, "abc", "--yes") == 2
    assert kept.folder.exists()


def test_one_damaged_run_is_one_row_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [trained(tmp_path / "runs", "ae", steps=1, seed=seed) for seed in range(4)]
    (runs[0].folder / "configuration.json").write_text("{")
    (runs[1].folder / "state.json").write_text('{"status": 3}')
    (runs[2].folder / "configuration.json").write_text('{"recipe": "ae"}')
    assert run(monkeypatch, "runs", "list") == 0
    shown = capsys.readouterr().out
    assert "(it is not valid JSON" in shown
    assert "(its field step is missing)" in shown
    assert "(its field data is missing)" in shown
    assert all(made.name in shown for made in runs)
    assert "finished" in shown
    assert run(monkeypatch, "runs", "list", "--json") == 0
    assert [row["state"] for row in json.loads(capsys.readouterr().out)].count("damaged") == 3


def test_a_run_is_extended_and_drawn_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import unweave

    data = unweave.load("xysquares", size=16)
    made = trained(tmp_path / "runs", "ae", data=data, steps=1)
    assert run(monkeypatch, "runs", "extend", made.name[:8], "--steps", "3", "--threads", "1") == 0
    assert "continued" in capsys.readouterr().out
    assert run(monkeypatch, "runs", "pictures", made.name[:8], "--out", "seen") == 0
    assert len(list(Path("seen").glob("*.png"))) == 2
    Path("file").write_text("")
    assert run(monkeypatch, "runs", "pictures", made.name[:8], "--out", "file") == 2
    assert "--out takes a folder" in capsys.readouterr().err


def test_scores_are_shown_with_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = trained(tmp_path / "runs", "ae", steps=1)
    scores = score(made, bars(), metrics=["mig", "dci"], samples=60, test_samples=30, seed=4)
    assert run(monkeypatch, "runs", "show", made.name, "--json") == 0
    shown = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["scores"]
    assert {row["score"]: row["value"] for row in shown} == scores.table
    # Of 72 images, 24 are tested, so that 48 of the 60 samples are left.
    assert {(row["samples"], row["test_samples"], row["seed"], row["step"]) for row in shown} == {(48, 24, 4, 1)}
    assert run(monkeypatch, "runs", "show", made.name) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if line.startswith("mig ")] == [
        ["mig", f"{scores.table['mig']:.4f}", "48", "4", "1"]
    ]


def test_damaged_files_do_not_stop_what_can_be_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = trained(tmp_path / "runs", "ae", steps=1)
    (made.folder / "scores.json").write_text("{")
    (made.folder / "log.jsonl").write_bytes(
        b'{"step": 1, "loss": NaN}\n{"step": 2, "loss": 1' + b"0" * 400 + b"}\n\xff"
    )
    state = json.loads((made.folder / "state.json").read_text()) | {"psnr": None}
    (made.folder / "state.json").write_text(json.dumps(state))
    for words in (["list"], ["show", made.name]):
        assert run(monkeypatch, "runs", *words) == 0
    assert "scores.json is damaged (it is not valid JSON" in capsys.readouterr().out
    assert run(monkeypatch, "runs", "show", made.name, "--json") == 0
    shown = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert shown["log"] == {"step": 1, "loss": "NaN"}
    assert (shown["state"], shown["psnr"]) == ("finished", None)


def test_unknown_states_are_refused_and_no_match_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = trained(tmp_path / "runs", "ae", steps=1)
    assert run(monkeypatch, "runs", "list", "--state", "foo") == 2
    known = "running, interrupted, failed, finished, stopped, not started, damaged"
    assert f"unknown state 'foo': expected one of {known}" in capsys.readouterr().err
    assert run(monkeypatch, "runs", "list", "--state", "failed") == 0
    assert capsys.readouterr().out == "no run matches; the store runs has 1 run.\n"
    assert run(monkeypatch, "runs", "label", made.name, "0138") == 2
    assert "looks like the name of a run" in capsys.readouterr().err
