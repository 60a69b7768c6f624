from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import torch

from unweave.data import load
from unweave.study.engines import processes


def test_there_is_at_least_one_worker_and_at_most_one_per_core() -> None:
    assert 1 <= processes.default_workers() <= (os.cpu_count() or 1)


def test_memory_limits_the_number_of_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(processes, "CGROUP", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    assert processes.available_memory() is None
    assert processes.default_workers() == 8
    (tmp_path / "meminfo").write_text("MemTotal: 9999999 kB\nMemFree: 1 kB\nMemAvailable: 5242880 kB\n")  # 5 GB
    assert processes.available_memory() == 5 * 2**30
    assert processes.default_workers() == 3
    (tmp_path / "memory.current").write_text(f"{2**30}\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert processes.default_workers() == 3
    (tmp_path / "memory.max").write_text(f"{3 * 2**30}\n")
    assert processes.available_memory() == 2 * 2**30
    assert processes.default_workers() == 1
    (tmp_path / "meminfo").write_text("MemAvailable: 1 kB\n")
    assert processes.default_workers() == 1


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="Linux tells how memory is shared")
def test_workers_share_the_pages_of_a_data_set(generator: torch.Generator) -> None:
    data = load("rooms3d", size=16)
    data.sample(2000, generator)
    pages: dict[str, int] = {}
    mapped = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            mapped = line.endswith("layers-v1-16.npy") or "rooms3d/layers" in line
        elif mapped and line.endswith(" kB"):
            key, _, value = line.partition(":")
            pages[key] = pages.get(key, 0) + int(value.split()[0])
    assert pages["Rss"] > 100  # kB, of 480
    assert pages["Private_Dirty"] == pages["Anonymous"] == 0  # a copy would be one of these
