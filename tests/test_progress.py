from __future__ import annotations

import re
import time

import pytest

from unweave.progress import SECONDS, Level, progress, set_level


def test_a_bar_shows_the_task_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress("drawing", 10) as advance:
        advance(10)
    shown = capsys.readouterr()
    assert "drawing" in shown.err
    assert "10/10" in shown.err
    assert shown.out == ""


def test_without_a_terminal_a_line_is_printed_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    with progress("drawing", 10) as advance:
        advance(5)
    assert capsys.readouterr() == ("", "")  # done before the first line is due
    monkeypatch.setitem(SECONDS, "normal", 0.0)
    with progress("beta_vae on dsprites", 10, unit="steps") as advance:
        time.sleep(0.02)
        advance(5, "loss 3")
    shown = capsys.readouterr().err
    assert re.fullmatch(r"beta_vae on dsprites: 5 of 10 steps, [\d.,]+/s, [\d.]+ s left; loss 3\n", shown), shown


@pytest.mark.parametrize("level", ["quiet", "verbose"])
def test_the_level_says_how_much_is_shown(
    level: Level, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setitem(SECONDS, "verbose", 0.0)
    set_level(level)
    try:
        with progress("drawing", 10) as advance:
            advance(5)
    finally:
        set_level("normal")
    assert ("drawing" in capsys.readouterr().err) == (level == "verbose")


@pytest.mark.parametrize("columns", [60, 80, 150])
def test_all_but_the_notes_fits_at_any_width(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    note = "loss 41.53  reconstruction 38.21  kl 3.253  total_correlation_discriminator 0.01234"
    with progress("factor_vae on scream_dsprites", 300_000, unit="steps") as advance:
        for _ in range(10):
            advance(12_345, note)
            time.sleep(0.03)
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in re.split(r"[\r\n]", capsys.readouterr().err)]
    last = next(line for line in reversed(lines) if "123450/300000" in line)
    assert len(last.rstrip()) <= columns
    assert re.search(r"123450/300000 +[\d.,]+/s +[\d.]+ s left", last), last
    assert "…" not in last.split("123450/300000")[1]
    assert ("loss 41.53  reconstruction 38.21" in last) == (columns == 150)
