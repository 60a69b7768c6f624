"""Fixtures of the data tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.data.fabricated import Shelf
from unweave.data import sets


@pytest.fixture
def shelf(empty_data_root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    yield Shelf(empty_data_root, monkeypatch)
    sets._identity.cache_clear()  # of the small sets that it stands in for
