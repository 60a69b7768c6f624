from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import run
from tests.training.small import trained


def test_a_report_from_the_command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    made = trained(Path("runs"), "pca", latents=2)
    assert run(monkeypatch, "report", made.name[:6], "--quiet") == 0
    assert "wrote report.html" in capsys.readouterr().out
    text = Path("report.html").read_text()
    assert "the images were an array in memory" in text  # figures need the data
    assert "In Python, with the same array as data" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["report", "nothing"], "there is no run 'nothing'"),
        (["report", "nothing", "--out", "report.pdf"], "--out must end in .html"),
        (["report", "nothing", "--out", "a.html", "--out", "b.html"], "--out is given twice"),
    ],
)
def test_wrong_words_are_a_sentence(
    words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *words) == 2
    assert message in capsys.readouterr().err
