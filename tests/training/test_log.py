from __future__ import annotations

from pathlib import Path

from unweave.training.log import Log, read_log


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
