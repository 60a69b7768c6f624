from __future__ import annotations

from pathlib import Path

import pytest

from unweave.store.json_files import is_finite, is_whole, read_json, reason_of


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
