from __future__ import annotations

from pathlib import Path

import pytest

from unweave.errors import Unavailable
from unweave.store.log import Log, read_log


def test_lines_from_before_a_stop_are_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with Log(path, 0) as log:
        for step in (1, 2, 3):
            log.write(step, {"loss": step / 2})
    with path.open("a") as file:
        file.write('{"step": 4, "lo')  # cut off
    assert [line["step"] for line in read_log(path)] == [1, 2, 3]
    with Log(path, 2) as log:
        log.write(3, {"loss": 9.0})
    assert read_log(path) == [{"step": 1, "loss": 0.5}, {"step": 2, "loss": 1.0}, {"step": 3, "loss": 9.0}]


def test_no_log_has_no_lines(tmp_path: Path) -> None:
    assert read_log(tmp_path / "none") == []


@pytest.mark.parametrize(
    "line",
    [
        b'{"step": 2, "lo\xffss": 1.0}',
        b'{"step": 2, "loss": 1' + b"0" * 400 + b"}",
        b'{"step": 2, "loss": ' + b"1" * 5000 + b"}",
        b'{"step": 1' + b"0" * 400 + b"}",
        b'{"step": 2, "loss": true}',
        b'{"step": 2, "loss": "1"}',
        b'{"loss": 1.0}',
        b"[" * 200_000,
        b"3",
    ],
    ids=range(9),
)
def test_a_log_ends_at_a_damaged_line(line: bytes, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b'{"step": 1, "loss": 0.5}\n' + line + b'\n{"step": 3, "loss": 0.5}\n')
    assert read_log(tmp_path / "log") == [{"step": 1, "loss": 0.5}]


def test_an_unreadable_log_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"cannot read .*: Is a directory"):
        read_log(tmp_path)
