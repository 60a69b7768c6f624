"""The command line in this process."""

from __future__ import annotations

import sys

import pytest

from unweave import cli
from unweave.cli.options import console


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Type these words; the exit code."""
    monkeypatch.setattr(sys, "argv", ["unweave", *words])
    monkeypatch.setattr(console, "_width", 200)
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return int(stop.value.code or 0)
