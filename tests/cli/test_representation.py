"""Encoders of the user's own as module:name, and codes from files, in every command that takes a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from PIL import Image

import unweave
from tests.cli.running import run
from unweave.explore import Selection
from unweave.explore.open_runs import OpenRuns

ENCODER = """
import torch

def corners(images):
    red = images[:, 0]
    return torch.stack([red.amax(2).argmax(1), red.amax(1).argmax(1), images.mean((1, 2, 3))], dim=1).float()

class Made:
    def __call__(self, images):
        return corners(images)

layers = {"corners": corners, "rows": lambda images: corners(images)[:, :1].repeat(1, 2)}
none = {}
"""
SMALL = ["--metric", "mig", "--metric", "follows", "--samples", "300", "--test-samples", "60"]
RNG = np.random.default_rng(0)
STAGE = RNG.integers(0, 3, 300)
LABELS = pandas.DataFrame({"stage": np.array(["egg", "larva", "adult"])[STAGE], "age": RNG.gamma(2.0, 3.0, 300)})
CODES = np.stack([STAGE + RNG.normal(scale=0.1, size=300), np.log(LABELS["age"]), RNG.normal(size=300)], axis=1)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module in the working directory."""
    (tmp_path / "own_corners.py").write_text(ENCODER)
    monkeypatch.syspath_prepend(tmp_path)
    return "own_corners"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Codes and a table of labels as files, as words of the command line."""
    np.save(tmp_path / "mine.npy", CODES)
    LABELS.to_csv(tmp_path / "labels.csv", index=False)
    return ["--codes", "mine.npy", "--factors", "labels.csv"]


def test_an_encoder_is_scored_with_its_matrix(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [f"{module}:corners", "--data", "xysquares,size=8", *SMALL]
    assert run(monkeypatch, "score", *words, "--json") == 0
    data = unweave.load("xysquares", size=8)
    own = __import__(module)
    expected = unweave.score(own.corners, data, metrics=["mig", "follows"], samples=300, test_samples=60)
    assert json.loads(capsys.readouterr().out) == {f"{module}:corners": pytest.approx(expected.table)}
    assert run(monkeypatch, "score", *words, "--matrix") == 0
    lines = capsys.readouterr().out.splitlines()
    (head,) = [k for k, line in enumerate(lines) if line.split() == list(data.space.names)]
    share = expected["follows"].share
    assert lines[head + 1].split() == ["z0", *(f"{value:.2f}" if value else "·" for value in share[0])]
    assert any(line.startswith("z0 → y0") and "above chance (" in line for line in lines)
    (unfollowed,) = [line for line in lines if line.startswith("factors that no latent follows, or only weakly: ")]
    assert "x1" in unfollowed
    assert "y0" not in unfollowed


def test_several_encoders_are_rows_of_one_table(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ["--data", "xysquares,size=8", "--metric", "mig,mcc", *SMALL[4:]]
    assert run(monkeypatch, "score", f"{module}:Made", f"{module}:layers", *small) == 0
    head, *rows = capsys.readouterr().out.splitlines()[:4]
    assert head.split() == ["mig", "mcc"]
    own, data = __import__(module), unweave.load("xysquares", size=8)
    named = {f"{module}:Made": own.corners, f"{module}:layers.corners": own.corners}
    named[f"{module}:layers.rows"] = own.layers["rows"]
    sizes: Any = {"samples": 300, "test_samples": 60}
    tables = {name: unweave.score(each, data, metrics=["mig", "mcc"], **sizes).table for name, each in named.items()}
    assert [row.split() for row in rows] == [[name, *(f"{v:.4f}" for v in t.values())] for name, t in tables.items()]
    assert tables[f"{module}:layers.rows"]["mcc"] < tables[f"{module}:Made"]["mcc"]
    assert run(monkeypatch, "score", f"{module}:layers", *small, "--json") == 0  # of one network, the keys alone
    assert set(json.loads(capsys.readouterr().out)) == {"corners", "rows"}


def test_a_narrow_screen_gets_the_table_in_parts(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [f"{module}:layers", "--data", "xysquares,size=8", "--metric", "mig,mcc,modularity", *SMALL[4:]]
    assert run(monkeypatch, "score", *words, width=40) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[0] for line in lines if line] == ["mig", "corners", "rows", "modularity", "corners", "rows"]
    assert lines[0] == ["mig", "mcc"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["score", "own_corners:corners"], "the encoder own_corners:corners needs data: name it with --data"),
        (["score", "own_corners:none", "--data", "xysquares"], "the dictionary own_corners:none has no encoders"),
        (["score", "own_corners:cornrs", "--data", "xysquares,size=8"], "cornrs"),
        (
            ["figure", "traversals", "own_corners:corners", "--data", "xysquares,size=8"],
            "traversals needs a decoder: a run, or an encoder with a method decode",
        ),
        (
            ["explore", "own_corners:corners", "--data", "xysquares,size=8", "--export", "page.html"],
            "--export needs the networks of a run",
        ),
        (["explore", "--data", "xysquares"], "--data is for an encoder, module:name"),
        (["explore", "own_corners:corners"], "the encoder own_corners:corners needs data"),
    ],
)
def test_what_an_encoder_cannot_do_is_a_sentence(
    words: list[str],
    problem: str,
    module: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, *words) == 2
    assert problem in capsys.readouterr().err


def test_figures_and_reports_take_an_encoder(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [f"{module}:corners", "--data", "xysquares,size=8"]
    made = ["figure", "mutual_information", *words, "--set", "samples=300", "--out", "map.png"]
    assert run(monkeypatch, *made) == 0
    with Image.open(tmp_path / "map.png") as picture:
        assert picture.size[0] > 100
    capsys.readouterr()
    assert run(monkeypatch, *made, "--json") == 0
    assert {row["factor"] for row in json.loads(capsys.readouterr().out.partition("wrote")[0])} >= {"x0", "y0"}


@pytest.mark.parametrize("ending", [".npy", ".npz", ".csv", ".parquet"])
def test_codes_are_read_from_every_kind_of_file(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    codes, factors = f"codes{ending}", f"factors{ending}"
    numbers = np.stack([STAGE, STAGE[::-1]], axis=1)
    if ending in (".npy", ".npz"):
        save = np.save if ending == ".npy" else lambda path, array: np.savez(path, array)
        save(tmp_path / codes, CODES)
        save(tmp_path / factors, numbers)
    else:
        frames = pandas.DataFrame(CODES, columns=list("abc")), pandas.DataFrame(numbers, columns=["stage", "other"])
        for name, frame in zip((codes, factors), frames, strict=True):
            frame.to_csv(tmp_path / name, index=False) if ending == ".csv" else frame.to_parquet(tmp_path / name)
    words = ["--codes", codes, "--factors", factors, "--metric", "follows", "--metric", "mig"]
    assert run(monkeypatch, "score", *words, "--json") == 0
    expected = unweave.score_codes(CODES, numbers, metrics=["follows", "mig"])
    assert json.loads(capsys.readouterr().out) == pytest.approx(expected.table)


def test_a_table_of_labels_keeps_its_names(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "score", *files, "--metric", "follows", "--matrix") == 0
    said = capsys.readouterr().out
    assert "z0 → stage" in said
    assert "z1 → age" in said
    assert "no factor above chance: z2" in said
    assert run(monkeypatch, "figure", "mutual_information", *files, "--json") == 0
    assert {row["factor"] for row in json.loads(capsys.readouterr().out)} == {"stage", "age"}
    assert run(monkeypatch, "report", *files, "--out", "report.html") == 0
    page = (tmp_path / "report.html").read_text()
    assert "What has it separated?" in page
    assert "stage" in page


def test_kinds_and_groups_can_be_declared(
    files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["score", *files, "--metric", "dci"]
    assert run(monkeypatch, *words, "--kind", "age=ordered", "--group", "0-1", "--group", "2", "--json") == 0
    expected = unweave.score_codes(CODES, LABELS, metrics="dci", kinds={"age": "ordered"}, groups=[[0, 1], [2]])
    assert json.loads(capsys.readouterr().out) == pytest.approx(expected.table)
    for wrong, message in (
        (["--kind", "age"], "--kind takes NAME=KIND, as in age=continuous, got 'age'"),
        (["--kind", "agee=ordered"], "unknown factor 'agee'"),
        (["--group", "a"], "--group takes columns, as in 0-3 or 0,2,5, got 'a'"),
        (["--group", "0-7"], "different columns from 0 to 2"),
    ):
        assert run(monkeypatch, *words, *wrong) == 2
        assert message in capsys.readouterr().err


def test_missing_labels_are_named_or_left_out(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gaps = LABELS.astype({"age": object})
    gaps.loc[:9, "age"] = ""
    gaps.to_csv(tmp_path / "labels.csv", index=False)
    words = ["score", *files, "--metric", "follows"]
    assert run(monkeypatch, *words) == 2
    assert "age has 10 of 300 rows" in capsys.readouterr().err
    assert run(monkeypatch, *words, "--missing", "drop") == 0
    said = capsys.readouterr().out
    assert "z1 → age" in said
    assert "rows without a value: age 10 of 300, left out of that factor" in said
    assert run(monkeypatch, *words, "--missing", "guess") == 2
    assert "--missing takes error or drop, got 'guess'" in capsys.readouterr().err


def test_a_table_of_labels_in_a_folder_is_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "moths"
    folder.mkdir()
    for k, stage in enumerate(STAGE[:6]):
        Image.fromarray(np.full((8, 8), 40 * stage, np.uint8)).save(folder / f"{k}.png")
    LABELS[:6].assign(file=[f"{k}.png" for k in range(6)])[::-1].to_csv(folder / "labels.csv", index=False)
    (offered,) = unweave.load(folder).notes
    assert offered.startswith("labels.csv has the columns stage, age for these pictures: to use them as factors, pass ")
    assert run(monkeypatch, "data", "show", "./moths") == 0
    shown = capsys.readouterr().out
    assert f"moths,factors={folder / 'labels.csv'}" in shown.replace("\n", "")
    (tmp_path / "brightness.py").write_text("def encode(images):\n    return images.flatten(1)[:, :2]\n")
    monkeypatch.syspath_prepend(tmp_path)
    words = ["score", "brightness:encode", "--data", "./moths", "--metric", "active_units"]
    assert run(monkeypatch, *words) == 0
    assert "note: labels.csv has the columns stage, age" in capsys.readouterr().out
    assert run(monkeypatch, *words, "--missing", "drop") == 2
    assert "write it behind the data, as in --data photos/,missing=drop" in capsys.readouterr().err
    taken = unweave.load(folder, factors=folder / "labels.csv")
    assert taken.notes == ()
    assert taken.labels is not None
    ages = LABELS["age"][:6].to_numpy()
    assert taken.labels[:, 1].numpy() == pytest.approx(ages)  # in the order of the pictures


def test_the_page_takes_encoders_and_codes_with_images(
    module: str, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = RNG.integers(0, 255, (300, 8, 8, 3), dtype=np.uint8)
    np.save(tmp_path / "pictures.npy", pictures)
    served: list[Selection] = []
    monkeypatch.setattr("unweave.explore.serve", lambda selection, **_: served.append(selection))
    assert run(monkeypatch, "explore", f"{module}:corners", "--data", "xysquares,size=8") == 0
    assert run(monkeypatch, "explore", *files, "--images", "pictures.npy") == 0
    encoder, codes = (OpenRuns(selection).open(str(selection.run)) for selection in served)
    assert (encoder.run.title, encoder.run.size) == (f"{module}:corners on XYSquares", 3)
    assert codes.run.title == "mine on pictures"
    images, values = codes.along_latent(0)
    ordered = np.sort(CODES[:, 0])
    assert values[0] == pytest.approx(ordered[0])
    assert values[-1] == pytest.approx(ordered[-1])
    assert (images[0].numpy() == pictures[CODES[:, 0].argmin()].transpose(2, 0, 1)).all()
