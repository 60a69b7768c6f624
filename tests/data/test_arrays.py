from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from unweave.data.files.arrays import Bytes, cached_array, npz_rows, npz_shape
from unweave.errors import Unavailable


def count_up(array: Bytes) -> None:
    array[:] = np.arange(array.size, dtype=np.uint8).reshape(array.shape)


def never(array: Bytes) -> None:
    raise AssertionError("made again")


def test_an_array_is_made_once_and_then_mapped(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.npy"
    first = cached_array(path, (4, 5), count_up)
    assert first.tolist() == np.arange(20).reshape(4, 5).tolist()
    assert isinstance(first.base, np.memmap)
    assert not first.flags.writeable
    assert cached_array(path, (4, 5), never).tolist() == first.tolist()


def test_a_failed_making_leaves_nothing(tmp_path: Path) -> None:
    def fail(array: Bytes) -> None:
        array[0] = 1
        raise RuntimeError("broken off")

    with pytest.raises(RuntimeError, match="broken off"):
        cached_array(tmp_path / "a.npy", (4, 5), fail)
    assert [path.suffix for path in tmp_path.iterdir()] in ([], [".lock"])
    assert cached_array(tmp_path / "a.npy", (4, 5), count_up)[3, 4] == 19


@pytest.mark.parametrize("damage", ["cut", "empty", "other shape", "other type", "noise"])
def test_what_is_not_a_whole_array_of_this_shape_is_made_again(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "a.npy"
    cached_array(path, (100, 50), count_up)
    if damage == "cut":
        os.truncate(path, path.stat().st_size - 1)
    elif damage == "empty":
        os.truncate(path, 0)
    elif damage == "noise":
        path.write_bytes(b"\x00" * 6000)
    else:
        np.save(path, np.zeros((100, 51) if damage == "other shape" else (100, 50), np.int8))
    assert cached_array(path, (100, 50), count_up)[1, 0] == 50


MAKER = """
import sys, time
from pathlib import Path
from unweave.data.files.arrays import cached_array

def slowly(array):
    for row in range(len(array)):
        array[row] = 7
        print(row, flush=True)
        time.sleep(0.01)

cached_array(Path(sys.argv[1]), (400, 1000), slowly)
"""


def test_a_killed_conversion_leaves_nothing_that_is_taken_for_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    for rows in (0, 3, 20):
        process = subprocess.Popen([sys.executable, "-c", MAKER, str(path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        while int(process.stdout.readline()) < rows:
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert not path.exists()
    assert cached_array(path, (400, 1000), count_up)[1, 0] == 1000 % 256


def test_two_processes_make_it_once(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    maker = MAKER.replace("0.01", "0.002")
    processes = [
        subprocess.Popen([sys.executable, "-c", maker, str(path)], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    outputs = [process.communicate()[0] for process in processes]
    assert sorted(map(len, map(str.split, outputs))) == [0, 400]
    assert (cached_array(path, (400, 1000), never) == 7).all()


def test_a_folder_that_cannot_be_written_to_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "taken" / "a.npy").mkdir(parents=True)
    (tmp_path / "blocked" / "a.npy.partial").mkdir(parents=True)
    for folder in ("file", "taken", "blocked"):
        with pytest.raises(Unavailable, match=r"cannot (store|write) .*a\.npy: "):
            cached_array(tmp_path / folder / "a.npy", (2, 2), count_up)


def test_npz_arrays_are_read_in_slices(tmp_path: Path) -> None:
    images = np.arange(7 * 3 * 2, dtype=np.uint8).reshape(7, 3, 2)
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", images=images)
        assert npz_shape(tmp_path / "a.npz", "images") == (7, 3, 2)
        slices = list(npz_rows(tmp_path / "a.npz", "images", 3))
        assert [rows.stop - rows.start for rows, _ in slices] == [3, 3, 1]
        assert np.array_equal(np.concatenate([chunk for _, chunk in slices]), images)


def test_reading_in_slices_keeps_memory_small(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", images=np.zeros((4000, 64, 64, 3), np.uint8))  # 49 MB
    script = (
        "import re, sys; from pathlib import Path; from unweave.data.files.arrays import npz_rows\n"
        "peak = lambda: int(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1]) / 1024\n"
        "before = peak()\n"
        "for rows, chunk in npz_rows(Path(sys.argv[1]), 'images', 100): pass\n"
        "print(peak() - before)"
    )
    grown = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "a.npz")], capture_output=True, text=True, check=True
    )
    assert float(grown.stdout) < 20  # MB


@pytest.mark.parametrize("damage", ["cut", "no zip", "no array"])
def test_a_damaged_npz_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, **{"other" if damage == "no array" else "images": np.zeros((50, 9, 9), np.uint8)})  # type: ignore[arg-type]
    if damage != "no array":
        path.write_bytes(path.read_bytes()[:1000] if damage == "cut" else b"hello")
    with pytest.raises(Unavailable, match=r"a\.npz is damaged, or not an \.npz file with an array 'images'"):
        list(npz_rows(path, "images", 10))
    with pytest.raises(Unavailable, match="damaged"):
        npz_shape(path, "images")
