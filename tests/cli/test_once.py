from __future__ import annotations

import pytest

from tests.cli.running import run


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
