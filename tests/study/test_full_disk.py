"""A study on a real file system that is full."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.study.counting import ended
from tests.study.tiny import SPEC
from unweave.store.folder import runs_in
from unweave.study import Study
from unweave.study.engines.worker import Report
from unweave.training import open_run

SIZE = 512 * 1024  # bytes


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(disk)], capture_output=True)
    if made.returncode:
        pytest.skip(f"a file system cannot be mounted here: {made.stderr.decode().strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_ends_the_study_with_a_reason_and_fails_no_run(small_disk: Path) -> None:
    store = small_disk / "store"
    study = Study(SPEC.replace("tests.study.tiny:Dots", "tests.study.counting:Dots"), store=store)
    filler = small_disk / "filler"
    filler.write_bytes(bytes(SIZE - 150 * 1024))
    said: list[Report] = []
    states = study.run(workers=1, report=said.append)
    finished = [report.run for report in said if report.outcome == "finished"]
    assert finished
    assert len(finished) == len(said) < 6
    assert states["finished"] == len(finished)
    assert "failed" not in states
    reasons = set(study.unfinished.values())
    assert len(study.unfinished) == 6 - len(finished)
    assert len(reasons) == 1
    assert reasons.pop().startswith(f"no machine is left that can train runs: {socket.gethostname()} (")
    assert "No space left on device" in next(iter(study.unfinished.values()))
    for name in finished:
        assert open_run(store / name).scores["mig"].score >= 0
    assert not list(store.glob("*/.*.partial"))
    filler.unlink()
    assert study.run(workers=1) == {"finished": 6}
    assert all(count == 1 for count in ended(store).values())
    for folder in runs_in(store):
        assert [line["step"] for line in open_run(folder).log] == [3]


def test_failures_that_cannot_be_recorded_are_in_the_exit_code_and_the_last_line(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, store = small_disk / "study.toml", small_disk / "store"
    spec.write_text(SPEC)
    store.mkdir()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    words = ["study", "run", str(spec), "--store", str(store), "--workers", "1"]
    assert run(monkeypatch, *words) == 1
    last = capsys.readouterr().out.strip().splitlines()[-1]
    assert last.startswith("6 runs are not finished: no machine is left that can train runs: ")
    assert "Read-only file system" in last
    assert "reason" not in last  # all six have the same
