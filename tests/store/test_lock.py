from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.training.small import trained
from unweave.store import lock as heartbeat
from unweave.store.lock import HEARTBEAT, beating, is_beating, locked


def test_a_folder_beats_as_long_as_its_process_trains(tmp_path: Path) -> None:
    assert not is_beating(tmp_path)
    with beating(tmp_path):
        assert is_beating(tmp_path)
    assert not is_beating(tmp_path)


def test_a_killed_process_no_longer_beats(tmp_path: Path) -> None:
    script = (
        "import sys, time, pathlib; from unweave.store.lock import beating\n"
        "with beating(pathlib.Path(sys.argv[1])): print('beating', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    assert is_beating(tmp_path)
    process.kill()
    process.wait()
    process.stdout.close()
    assert (tmp_path / HEARTBEAT).exists()
    assert not is_beating(tmp_path)


def test_a_process_number_that_was_given_to_another_process_does_not_count(tmp_path: Path) -> None:
    with beating(tmp_path):
        host, pid, started = (tmp_path / HEARTBEAT).read_text().split()
        (tmp_path / HEARTBEAT).write_text(f"{host} {pid} {int(started) + 1}\n")
        assert not is_beating(tmp_path)


def test_another_machine_counts_as_dead_after_a_silence(tmp_path: Path) -> None:
    (tmp_path / HEARTBEAT).write_text("elsewhere 1 2\n")
    assert is_beating(tmp_path)
    old = time.time() - heartbeat.SILENT - 1
    os.utime(tmp_path / HEARTBEAT, (old, old))
    assert not is_beating(tmp_path)
    (tmp_path / HEARTBEAT).write_text("nonsense")
    assert not is_beating(tmp_path)


def test_whoever_looks_does_not_disturb_the_trainer(tmp_path: Path) -> None:
    run = trained(tmp_path, steps=2)
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            is_beating(run.folder)

    viewer = threading.Thread(target=look)
    viewer.start()
    try:
        for _ in range(300):
            with locked(run.folder):
                pass
    finally:
        done.set()
        viewer.join()
