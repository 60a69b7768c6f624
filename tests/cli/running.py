"""The command line in this process."""

from __future__ import annotations

import sys

import pytest

from unweave import cli
from unweave.cli.options import console


def run(monkeypatch: pytest.MonkeyPatch, *words: str, width: int = 200) -> int:
    """Type these words on a screen of this width; the exit code."""
    monkeypatch.setattr(sys, "argv", ["unweave", *words])
    monkeypatch.setattr(console, "_width", width)
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return int(stop.value.code or 0)
