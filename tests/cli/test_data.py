from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from tests.cli.running import run
from tests.data.fabricated import SMALL, Shelf, h5, noise
from tests.data.servers import Site, serve
from unweave.cli.data import distances_as_json, print_distances
from unweave.cli.options import picture_path
from unweave.data import SETS, identity_of
from unweave.data.distances import ChannelStatistics, Importance, Matrices
from unweave.data.files.downloads import RemoteFile

LINE = (torch.arange(3.0)[:, None] - torch.arange(3.0)).abs()
CONSTANT = 1 - torch.eye(3)
ROWS = [Importance("random", 0.5, 0.25), Importance("x", 0.25, 0.125), Importance("y", 0.25, 0.0)]
ROWS += [Importance("shape", 0.125, 0.0)]
MATRICES = [
    Matrices("x", LINE, 2 * LINE),
    Matrices("y", LINE, CONSTANT),
    Matrices("shape", LINE[:2, :2], LINE[:2, :2]),
]
STATISTICS = ChannelStatistics(torch.tensor([0.5]), torch.tensor([0.25]), 1200, False)


def test_list_names_every_set(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "data", "list") == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in SETS)
    assert "shape 3 · scale 6 · orientation 40 · x 32 · y 32" in shown


def test_list_and_show_print_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, empty_data_root: Path
) -> None:
    assert run(monkeypatch, "data", "list", "--json") == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(rows) == list(SETS)
    assert rows["cars3d"]["factors"][1] == {"name": "azimuth", "size": 24, "kind": "cyclic"}
    assert (rows["cars3d"]["available"], rows["xysquares"]["available"]) == (False, True)
    for array, available in (("images-v1-64.npy", False), ("images-v1-64-bilinear.npy", True)):  # the default filter
        (empty_data_root / "cars3d").mkdir(parents=True, exist_ok=True)
        (empty_data_root / "cars3d" / array).touch()
        assert run(monkeypatch, "data", "list", "--json") == 0
        rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
        assert rows["cars3d"]["available"] == available
    assert run(monkeypatch, "data", "show", "shapes3d", "--set", "size=32", "--json") == 0  # its file is not here
    shown = json.loads(capsys.readouterr().out)
    assert shown["identity"] == identity_of("shapes3d", size=32).canonical()
    np.savez(tmp_path / "mine.npz", images=np.zeros((3, 8, 6), np.uint8), more=np.zeros(2))
    assert run(monkeypatch, "data", "show", "./mine.npz", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["name"], shown["images"], shown["shape"]) == ("mine", 3, [1, 8, 6])
    assert shown["notes"] == ["not used from mine.npz: more"]
    assert not list(tmp_path.glob("*.png"))


def test_show_describes_a_set_and_writes_a_contact_sheet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(monkeypatch, "data", "show", "xysquares", "--set", "spacing=2", "--out", "deep/sheet.png") == 0
    shown = capsys.readouterr().out
    for words in (
        "x0 8 (ordered)",
        "262,144 of 3×64×64",
        "<xysquares: x0 8",
        "Michlo, Klein and James",
        "wrote deep/sheet.png",
    ):
        assert words in shown
    with Image.open(tmp_path / "deep" / "sheet.png") as picture:
        assert picture.width > 1000


def test_show_takes_ones_own_images(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    Image.new("RGB", (32, 32), "red").save(tmp_path / "photos" / "a.png")
    assert run(monkeypatch, "data", "show", "photos/") == 0
    assert (tmp_path / "photos.png").exists()


def test_names_may_have_brackets_and_outputs_get_a_suffix(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "photos").mkdir()
    for number in range(3):
        Image.new("L", (8, 8), number).save(tmp_path / "photos" / f"{number}.png")
    (tmp_path / "photos" / "factors.csv").write_text("width [cm],[/h]\n1,1\n2,1\n3,2\n")
    assert run(monkeypatch, "data", "show", "photos/", "--out", "sheet") == 0
    shown = capsys.readouterr().out
    assert "width [cm] 3 · [/h] 2" in shown
    assert "wrote sheet.png" in shown
    assert (tmp_path / "sheet.png").exists()


def test_show_of_a_set_that_is_not_here_describes_it_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], empty_data_root: Path
) -> None:
    assert run(monkeypatch, "data", "show", "shapes3d") == 2
    shown = capsys.readouterr()
    assert "Burgess and Kim" in shown.out
    assert "unweave: shapes3d is not on this machine: run `unweave data fetch shapes3d`" in shown.err


def test_distances_prints_the_published_table_and_writes_the_matrices(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(monkeypatch, "data", "distances", "xysquares", "--pairs", "3000", "--traversals", "2") == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["x0", "0.0104", "0.0000", "constant"] in rows
    assert next(row for row in rows if row[:1] == ["random"])[1] == "0.0308"
    assert ["0", "0.015625", "0.124035"] in rows
    assert (tmp_path / "xysquares-distances.png").exists()


def test_distances_as_json_are_the_numbers_of_the_table_and_no_picture(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ("data", "distances", "xysquares", "--pairs", "500", "--traversals", "2", "--json")
    assert run(monkeypatch, *words) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["data"], shown["loss"], shown["pairs"], shown["traversals"]) == ("xysquares", "mse", 500, 2)
    factors = {row.pop("factor"): row for row in shown["factors"]}
    square = 2 * 64 / 3 / 64**2  # one of three squares, of one channel each, leaves 64 pixels for 64 others
    assert factors["x0"] == {"mean": pytest.approx(square), "std": pytest.approx(0, abs=1e-6), "correlation": None}
    assert factors["random"]["mean"] == pytest.approx(0.0308, abs=5e-4)
    assert shown["channels"]["mean"] == pytest.approx([64 / 64**2] * 3)  # an 8 × 8 square on 64 × 64 pixels
    assert (shown["channels"]["images"], shown["channels"]["exact"]) == (262_144, True)
    assert not list(tmp_path.glob("*.png"))
    assert run(monkeypatch, *words, "--out", "matrices.png") == 0
    assert json.loads(capsys.readouterr().out)["channels"] == shown["channels"]
    assert (tmp_path / "matrices.png").exists()


@pytest.mark.parametrize("command", ["show", "distances"])
@pytest.mark.parametrize("out", ["/proc/x.png", "a.nonsense", "file/a.png"])
def test_a_picture_that_cannot_be_written_is_refused_before_the_data_is_opened(
    command: str, out: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def opened(*_: object, **__: object) -> None:
        raise AssertionError("the data was opened")

    monkeypatch.setattr("unweave.data.load", opened)
    Path("file").touch()
    assert run(monkeypatch, "data", command, "xysquares", "--out", out) == 2
    assert f"cannot write {out}: " in capsys.readouterr().err


def test_the_check_leaves_an_existing_picture_as_it_was_and_no_new_file(tmp_path: Path) -> None:
    old = tmp_path / "old.png"
    old.write_bytes(b"old")
    picture_path(old)
    picture_path(tmp_path / "new")
    assert old.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [old]


def test_fetch_downloads_verifies_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], empty_data_root: Path
) -> None:
    assert run(monkeypatch, "data", "fetch", "xysquares") == 0
    assert "xysquares is drawn here and needs no file" in capsys.readouterr().out
    data = SETS["mpi3d_real"]
    with serve(Site(b"not the real file")) as site:
        file = RemoteFile("mpi3d_real.npz", site.url, checksum=data.card.files[0].checksum)
        monkeypatch.setattr(data, "card", replace(data.card, files=(file,)))
        assert run(monkeypatch, "data", "fetch", "mpi3d_real") == 2
    assert "0f33f609918fb5c97996692f91129802 but is" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["data", "show", "dsprits"], "did you mean 'dsprites'"),
        (["data", "show", "xysquares", "--set", "spacing"], "--set takes KEY=VALUE, got 'spacing'"),
        (["data", "show", "xysquares", "--set", "spacing=99"], "need 701 pixels"),
        (["data", "show", "xysquares", "--out", "a.nonsense"], "cannot write a.nonsense"),
        (["data", "show", "xysquares", "--out", "/"], "give the name of a file"),
        (["data", "show", "xysquares", "--seed", "99999999999999999999"], "--seed"),
        (["data", "show", "smallnorb", "--set", "hide_instance=no"], "hide_instance must be true or false, got 'no'"),
        (["data", "distances", "xysquares", "--loss", "l3"], "unknown distance 'l3'"),
        (["data", "distances", "xysquares", "--pairs", "1"], "Invalid value for '--pairs'"),
        (["data", "distances", "xysquares", "--pairs", "-5"], "Invalid value for '--pairs'"),
        (["data", "distances", "xysquares", "--traversals", "0"], "Invalid value for '--traversals'"),
        (["data", "show", "xysquares", "--json", "--out", "a.png"], "cannot be combined with --out"),
        (["data", "fetch", "nothing"], "unknown data set 'nothing'"),
        (["data", "show"], "Missing argument"),
        (["data", "sow"], "No such command"),
        (["data", "distances", "xysquares", "--pairs", "many"], "Invalid value for '--pairs'"),
    ],
)
def test_wrong_words_are_a_sentence_and_exit_code_two(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert run(monkeypatch, *words) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert "Traceback" not in shown.err


def test_check_compares_with_what_is_published_and_draws_the_order(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, empty_data_root: Path
) -> None:
    Shelf(empty_data_root, monkeypatch).put("shapes3d", [h5(noise(12, 64, 64, 3))], SMALL)
    assert run(monkeypatch, "data", "check", "shapes3d") == 1  # noise is not 3D Shapes
    shown = capsys.readouterr().out
    for words in ("images: 12", "3dshapes.h5: sha256:", "0.502585", "not as published: Michlo", "shapes3d-order.png"):
        assert words in shown
    with Image.open(tmp_path / "shapes3d-order.png") as picture:
        assert picture.width > 1000
    assert run(monkeypatch, "data", "check", "shapes3d,size=32", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["images"], found["agrees"], found["largest_difference"]) == (12, True, None)
    assert found["published"]["other_options"] == {"size": 64, "filter": None}
    assert run(monkeypatch, "data", "check", "cars3d") == 2
    assert "unweave data fetch cars3d" in capsys.readouterr().err


def test_a_correlation_that_is_not_defined_is_none_in_json() -> None:
    plain = distances_as_json(ROWS, MATRICES, STATISTICS)
    correlations = {row["factor"]: row["correlation"] for row in plain["factors"]}
    assert correlations == {"random": None, "x": pytest.approx(1.0), "y": None, "shape": None}
    assert plain["factors"][1] == {"factor": "x", "mean": 0.25, "std": 0.125, "correlation": correlations["x"]}
    assert plain["channels"] == {"mean": [0.5], "std": [0.25], "images": 1200, "exact": False}


def test_the_tables_have_a_row_per_factor_and_channel(capsys: pytest.CaptureFixture[str]) -> None:
    print_distances(ROWS, MATRICES, STATISTICS)
    shown = capsys.readouterr().out
    rows = [line.split() for line in shown.splitlines()]
    assert ["x", "0.2500", "0.1250", "1.000"] in rows
    assert ["y", "0.2500", "0.0000", "constant"] in rows
    assert ["shape", "0.1250", "0.0000", "2", "values"] in rows
    assert ["0", "0.500000", "0.250000"] in rows
    assert "from 1,200 images (a sample)" in shown
