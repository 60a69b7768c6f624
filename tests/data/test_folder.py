from __future__ import annotations

from pathlib import Path

import pytest

from unweave.data.files.folder import data_folder


def test_the_folder_is_the_users_choice_or_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path))
    assert data_folder("dsprites") == tmp_path / "dsprites"
    monkeypatch.delenv("UNWEAVE_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert data_folder("dsprites").parts[-2:] == ("unweave", "dsprites")
