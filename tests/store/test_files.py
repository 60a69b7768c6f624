from __future__ import annotations

from pathlib import Path

import pytest

from unweave.errors import Unavailable
from unweave.store.files import (
    atomic_write,
    is_finite,
    is_whole,
    read_json,
    reason_of,
    remove_leftovers,
    write_output,
    write_text,
)


def test_an_output_is_written_into_a_new_folder(tmp_path: Path) -> None:
    assert write_output(tmp_path / "new" / "page.html", "ü").read_text(encoding="utf-8") == "ü"
    assert write_output(str(tmp_path / "new" / "table"), b"\x00\xff").read_bytes() == b"\x00\xff"
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="cannot write"):
        write_output(tmp_path / "file" / "page.html", "")


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


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "it is not valid JSON: Expecting property name"),
        (b'{"a": "\xff"}', "it is not text in UTF-8"),
        (b"1" * 5000, "it has numbers that are too long"),
        (b"[" * 200_000, "it has numbers that are too long, or too many nested lists"),
    ],
    ids=["cut", "bytes", "digits", "nested"],
)
def test_damage_is_described_in_words(content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match=reason):
        read_json(tmp_path / "file")


def test_json_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_text('{"é": [1, 2.5, null]}', encoding="utf-8")
    assert read_json(tmp_path / "file") == {"é": [1, 2.5, None]}
    with pytest.raises(IsADirectoryError) as error:
        read_json(tmp_path)
    assert reason_of(error.value) == "Is a directory"


def test_numbers_are_told_from_what_only_looks_like_them() -> None:
    assert [is_whole(value) for value in (3, 10**400, True, 3.0, "3", None)] == [True, True, False, False, False, False]
    assert all(is_finite(value) for value in (3, -2.5, 10**300))
    assert not any(is_finite(value) for value in (10**400, float("nan"), float("inf"), True, "3", None))
