"""Fixtures of the data tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.data.fabricated import Shelf


@pytest.fixture
def shelf(empty_data_root: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    return Shelf(empty_data_root, monkeypatch)
