from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest

import unweave
from tests.cli.running import run as typed
from tests.reports.reading import Page
from tests.training.small import pictures, trained
from unweave.cli.options import find_runs
from unweave.reports import report
from unweave.reports.paths import as_path, from_here, run_commands, source_from_here


def test_paths_are_seen_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert from_here(tmp_path / "runs") == "../runs"
    assert from_here(here / "a" / "b") == "a/b"
    assert from_here("s3://bucket/runs") == "s3://bucket/runs"
    assert as_path(here / "photos") == "./photos"
    source = {"path": str(here / "photos"), "options": {"factors": str(tmp_path / "f.csv"), "size": 16, "names": None}}
    assert source_from_here(source) == {
        "path": "./photos",
        "options": {"factors": "../f.csv", "size": 16, "names": None},
    }


def test_commands_name_runs_and_only_a_store_that_is_not_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UNWEAVE_STORE", raising=False)
    first, second = "0123456789abcdef", "fedcba9876543210"
    assert run_commands("unweave score", [tmp_path / "runs" / first]) == f"unweave score {first}"
    assert run_commands("unweave score", [Path("runs") / first]) == f"unweave score {first}"
    several = [tmp_path / "my store" / first, tmp_path / "runs" / second, tmp_path / "my store" / second]
    assert run_commands("unweave score", several).splitlines() == [
        f"unweave score {first} {second} --store 'my store'",
        f"unweave score {second}",
    ]
    assert run_commands("unweave score", [tmp_path / "renamed"]) == "unweave score ./renamed"
    monkeypatch.setenv("UNWEAVE_STORE", str(tmp_path / "my store"))
    assert run_commands("unweave score", [several[0]]) == f"unweave score {first}"


def test_a_report_shows_no_absolute_path_and_its_commands_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNWEAVE_STORE", raising=False)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    np.save(tmp_path / "bars.npy", pictures().numpy())
    np.savetxt(tmp_path / "places.csv", np.arange(72), fmt="%d", header="place", comments="")
    data = unweave.load(tmp_path / "bars.npy", factors=tmp_path / "places.csv")
    run = trained(tmp_path / "kept", "pca", data, latents=3)
    text = Page(report(run, "report.html").read_text(encoding="utf-8")).text
    assert str(tmp_path) not in text
    assert f"unweave score {run.name} --store ../kept" in text
    assert find_runs([run.name], "../kept")[0].samefile(run.folder)
    command = next(line.strip() for line in text.splitlines() if "unweave train" in line)
    words = shlex.split(command[command.index("unweave train") :])[:6]
    assert words == ["unweave", "train", "--from", run.name, "--store", "../kept"]
    assert typed(monkeypatch, *words[1:]) == 0
    assert [folder.name for folder in (tmp_path / "kept").iterdir()] == [run.name]

    (tmp_path / "bars.npy").unlink()
    again = Page(report(run, "report.html").read_text(encoding="utf-8")).text
    assert "the images are no longer at ../bars.npy" in again
    assert str(tmp_path) not in again
