from __future__ import annotations

from pathlib import Path

import pytest

from unweave.errors import Unavailable
from unweave.training.writing import write_text, written_whole


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_text(path, "old")

    def fail_on_the_way() -> None:
        with written_whole(path) as aside:
            aside.write_text("ne")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_on_the_way()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_text(tmp_path / "file", "old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(Unavailable, match=r"cannot write .*: No space left on device"):
        write_text(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1
