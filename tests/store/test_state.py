from __future__ import annotations

import json
from pathlib import Path

import pytest

from unweave.errors import OtherVersion, Unavailable
from unweave.store.files import another_writer, this_version, versions
from unweave.store.measurements import read_scores
from unweave.store.state import Log, State, last_step, read_log, read_state, write_state

LATER = "unweave 99.1.0, torch 2.9.0"


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


def write(folder: Path, **changes: object) -> Path:
    write_state(folder, State("finished", 3, versions()))
    path = folder / "state.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return path


def test_the_state_of_the_first_format_is_read(tmp_path: Path) -> None:
    """As version 0.1.0 wrote it before formats were numbered."""
    (tmp_path / "state.json").write_text('{"status": "failed", "step": 5, "version": "unweave 0.0.9, torch 2.6.0"}')
    state = read_state(tmp_path)
    assert state is not None
    assert (state.status, state.step, state.format) == ("failed", 5, 1)


def test_a_later_version_with_the_same_format_is_read(tmp_path: Path) -> None:
    write(tmp_path, version=LATER)
    assert read_state(tmp_path) is not None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": 2}, "its format is 2, and this version reads formats up to 1"),
        ({"mood": "good"}, "its field mood is unknown"),
        ({"status": "paused"}, "its field status is not one of"),
    ],
)
def test_what_a_later_version_wrote_and_this_one_cannot_read_is_refused(
    tmp_path: Path, changes: dict[str, object], reason: str
) -> None:
    write(tmp_path, version=LATER, **changes)
    with pytest.raises(
        OtherVersion, match=rf"written by unweave 99.1.0, and unweave {this_version()} cannot"
    ) as caught:
        read_state(tmp_path)
    assert reason in str(caught.value)


def test_the_same_by_this_version_is_damage(tmp_path: Path) -> None:
    write(tmp_path, mood="good")
    with pytest.raises(Unavailable, match="is damaged") as caught:
        read_state(tmp_path)
    assert not isinstance(caught.value, OtherVersion)


def test_a_later_format_without_a_version_is_refused(tmp_path: Path) -> None:
    write(tmp_path, version="?", format=7)
    with pytest.raises(OtherVersion, match="written by a later version of unweave"):
        read_state(tmp_path)


def test_scores_of_a_later_version_are_refused(tmp_path: Path) -> None:
    entry = {"metric": "mig", "protocol": {}, "version": LATER, "result": {}, "spread": 1}
    (tmp_path / "scores.json").write_text(json.dumps([entry]))
    with pytest.raises(OtherVersion, match=r"written by unweave 99\.1\.0"):
        read_scores(tmp_path)
    (tmp_path / "scores.json").write_text(json.dumps([entry | {"version": versions()}]))
    with pytest.raises(Unavailable, match="is damaged"):
        read_scores(tmp_path)


def test_who_wrote_a_record() -> None:
    assert another_writer({"version": versions()}) is None
    assert another_writer({"version": LATER}) == "99.1.0"
    assert another_writer({"version": 3}) is None
    assert another_writer([]) is None


def test_the_last_step_is_read_from_the_end_of_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    assert last_step(log) == 0
    log.write_text("".join(f'{{"step": {step}, "loss": 0.5}}\n' for step in range(100, 100_000, 100)))
    assert last_step(log) == 99_900
    with log.open("a") as file:
        file.write('{"step"')  # being written
    assert last_step(log) == 99_900
    log.write_text("damaged")
    assert last_step(log) == 0
