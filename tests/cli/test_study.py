from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from PIL import Image

from tests.cli.running import run
from tests.study.tiny import SPEC

SMALL = SPEC.replace("beta = [1, 4]", "beta = [1]").replace("seeds = 2", "seeds = 1")


def test_a_study_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for limit in ("PATIENCE", "BUDGET"):  # also on a machine with much else to do
        monkeypatch.setattr(f"unweave.study.estimate.{limit}", 600.0)
    Path("study.toml").write_text(SMALL)
    assert run(monkeypatch, "study", "plan", "study.toml") == 0
    shown = capsys.readouterr().out
    assert "tiny: 3 runs" in shown
    assert "varies: recipe, beta, seed" in shown
    assert re.search(r"(?m)time: about .* of training and scoring with \d workers?$", shown)
    study = ("study.toml", "--set", "steps=4")
    assert run(monkeypatch, "study", "run", *study, "--workers", "1") == 0
    assert "finished" in capsys.readouterr().out
    assert run(monkeypatch, "study", "status", *study, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"finished": 3}
    assert run(monkeypatch, "study", "status", "study.toml", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"not started": 3}  # runs of the spec's own three steps
    assert not list(tmp_path.rglob("doing.txt"))  # which is there only while a run is scored
    for ending in ("csv", "parquet", "json"):
        assert run(monkeypatch, "study", "table", *study, "--out", f"table.{ending}") == 0
        assert Path(f"table.{ending}").stat().st_size > 100
    capsys.readouterr()
    assert [row["step"] for row in csv.DictReader(Path("table.csv").read_text().splitlines())] == ["4"] * 3
    assert run(monkeypatch, "study", "table", *study, "--format", "md") == 0
    assert "| β-VAE | 2 | " in capsys.readouterr().out
    Path("theirs.csv").write_text("data,recipe,mig\ntests.study.tiny:Dots,ours,0.9\n")
    assert run(monkeypatch, "study", "table", *study, "--beside", "theirs.csv") == 0
    assert re.search(r"^Dots\s*$.*^ours +1 +0\.900 \*", capsys.readouterr().out, flags=re.M | re.S)
    assert run(monkeypatch, "study", "table", *study, "--wide") == 0
    assert capsys.readouterr().out.startswith("run,state,step")
    assert run(monkeypatch, "study", "plan", "study.toml", "--json") == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plan", "nowhere.toml"], "cannot read the study nowhere.toml"),
        (["plan", "wrong.toml"], "wrong.toml: line 18: grid 1: unknown setting of beta_vae 'bta'"),
        (["run", "study.toml", "--part", "1"], "--part takes I/N"),
        (["run", "study.toml", "--engine", "rai"], "unknown engine 'rai': did you mean 'ray'?"),
        (["run", "study.toml", "--gpus", "0.5"], "address, cpus and gpus are settings of the engine ray"),
        (
            ["run", "study.toml", "--retry", "--engine", "ray", "--cpus", "1.5"],
            "cpus must be a whole number if it is more than 1",
        ),
        (["table", "study.toml", "--out", "table.txt"], "must end in .csv, .parquet, .json, .md or .tex"),
        (["table", "study.toml", "--format", "pdf"], "--format must be one of text, md, latex, csv"),
        (["table", "study.toml", "--beside", "no.csv"], "cannot read no.csv"),
    ],
)
def test_wrong_words_are_a_sentence(
    words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("study.toml").write_text(SMALL)
    Path("wrong.toml").write_text(SMALL.replace("beta = [1]", "bta = [1]"))
    assert run(monkeypatch, "study", *words) == 2
    assert message in capsys.readouterr().err


def test_the_data_that_must_be_fetched_is_named(
    empty_data_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("cars.toml").write_text('name = "cars"\n[[grid]]\nrecipe = "ae"\ndata = ["cars3d", "dsprites"]\n')
    assert run(monkeypatch, "study", "plan", "cars.toml", "--no-estimate") == 0
    assert "data not downloaded: cars3d. Run: unweave data fetch cars3d" in capsys.readouterr().out
    assert run(monkeypatch, "study", "plan", "cars.toml", "--no-estimate", "--json") == 0
    assert json.loads(capsys.readouterr().out)["absent"] == ["cars3d"]
    Path("cars.toml").write_text('name = "cars"\n[[grid]]\nrecipe = "ae"\ndata = "cars3d"\nseeds = 3\n')
    assert run(monkeypatch, "study", "run", "cars.toml") == 2  # once, not for every run
    said = capsys.readouterr().err
    assert said == "unweave: no run can be trained: data not downloaded: cars3d. Run: unweave data fetch cars3d.\n"
    assert not Path("runs").exists()


def test_pictures_in_a_folder_need_no_download(
    empty_data_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Image.new("L", (40, 40)).save(tmp_path / "grey.png")
    grid = f'name = "own"\n[[grid]]\nrecipe = "pca"\ndata = "natural"\n"data.folder" = "{tmp_path}"\n'
    Path("own.toml").write_text(grid)
    assert run(monkeypatch, "study", "plan", "own.toml", "--no-estimate") == 0
    assert "not downloaded" not in capsys.readouterr().out


def test_a_plan_names_the_second_stage(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    rule = '[select]\nby = "mig"\nper = ["recipe"]\nseeds = [7, 8, 9]\n'
    Path("study.toml").write_text(SPEC + rule)
    assert run(monkeypatch, "study", "plan", "study.toml", "--no-estimate") == 0
    shown = capsys.readouterr().out
    assert "tiny: 6 runs in the first stage" in shown
    words = "then 6 runs in the second stage: fresh seeds of the settings with the best mean of mig per recipe"
    assert words in shown  # two recipes, three seeds
    assert run(monkeypatch, "study", "plan", "study.toml", "--no-estimate", "--json") == 0
    assert json.loads(capsys.readouterr().out)["second_stage"] == 6
