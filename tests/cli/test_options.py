from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.training.small import bars, trained
from unweave import __version__
from unweave.cli.options import draw_pictures, picture_path, print_json
from unweave.errors import InputError


def test_the_installed_command_prints_its_version() -> None:
    command = Path(sys.executable).with_name("unweave")
    shown = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == __version__


def test_a_picture_goes_where_it_is_told(tmp_path: Path) -> None:
    assert picture_path(tmp_path / "new" / "picture") == tmp_path / "new" / "picture.png"
    assert list((tmp_path / "new").iterdir()) == []
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(InputError, match="give the name of a file"):
        picture_path(tmp_path / "folder.png")
    with pytest.raises(InputError, match=r"ends in \.png, \.svg, \.pdf, \.csv\."):
        picture_path(tmp_path / "a.jpg", (".csv",))


def test_printed_json_is_valid(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"psnr": float("nan"), "values": [float("inf"), 1.5]})
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail) == {
        "psnr": "NaN",
        "values": ["Infinity", 1.5],
    }


def test_two_runs_write_files_of_their_own(tmp_path: Path) -> None:
    for seed in (0, 1):
        draw_pictures(trained(tmp_path / "runs", steps=2, seed=seed), bars(), tmp_path / "seen")
    assert len(list((tmp_path / "seen").glob("beta_vae-*-traversals.png"))) == 2
    assert len(list((tmp_path / "seen").glob("beta_vae-*-reconstructions.png"))) == 2


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["--steps", "3", "--steps", "4"], "--steps"),
        (["--threads=9999", "--threads", "1"], "--threads"),
        (["-q", "--quiet"], "--quiet"),
    ],
)
def test_an_option_that_is_given_twice_is_refused(
    words: list[str], option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "train", "vae", "xysquares", *words) == 2
    assert f"{option} is given twice" in capsys.readouterr().err
