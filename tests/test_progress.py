from __future__ import annotations

import time

import pytest

from unweave.progress import progress


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


def test_nothing_is_written_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    with progress("drawing", 10, unit="bytes") as advance:
        advance(10)
    assert capsys.readouterr() == ("", "")


def test_steps_show_their_speed_and_a_note(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "150")
    with progress("beta_vae on dsprites", 10, unit="steps") as advance:
        for _ in range(10):
            advance(1, "kl 3.25  reconstruction 41.5")
            time.sleep(0.03)
    shown = capsys.readouterr().err
    assert "kl 3.25  reconstruction 41.5" in shown
    assert "/s" in shown
