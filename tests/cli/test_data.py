from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from tests.cli.running import run
from tests.data.servers import Site, serve
from unweave.data import SETS
from unweave.data.files import RemoteFile


def test_list_names_every_set(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "data", "list") == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in SETS)
    assert "shape 3 · scale 6 · orientation 40 · x 32 · y 32" in shown


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
    assert "0f33f609918fb5c97996692f91129802 and is" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["data", "show", "dsprits"], "did you mean 'dsprites'"),
        (["data", "show", "xysquares", "--set", "spacing"], "--set takes KEY=VALUE, got 'spacing'"),
        (["data", "show", "xysquares", "--set", "spacing=99"], "need 701 pixels"),
        (["data", "show", "xysquares", "--out", "a.nonsense"], "cannot write a.nonsense"),
        (["data", "show", "xysquares", "--out", "/"], "name a file"),
        (["data", "show", "xysquares", "--seed", "99999999999999999999"], "--seed"),
        (["data", "show", "smallnorb", "--set", "hide_instance=no"], "hide_instance must be true or false, got 'no'"),
        (["data", "distances", "xysquares", "--loss", "l3"], "unknown distance 'l3'"),
        (["data", "distances", "xysquares", "--pairs", "0"], "pairs must be a whole number of at least 2"),
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
