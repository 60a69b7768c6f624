from __future__ import annotations

from pathlib import Path

import pytest

from unweave.errors import Unavailable
from unweave.store.atomic import atomic_write, remove_leftovers, write_text


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_text(path, "old")

    def fail_on_the_way() -> None:
        with atomic_write(path) as aside:
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


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    for name in (".checkpoint.safetensors.1.partial", ".tmpabc", "log.jsonl"):
        (tmp_path / name).write_text("half")
    remove_leftovers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["log.jsonl"]
