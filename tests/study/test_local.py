from __future__ import annotations

from unweave.study.local import default_workers


def test_there_is_at_least_one_worker_and_at_most_one_per_core() -> None:
    import os

    assert 1 <= default_workers() <= (os.cpu_count() or 1)
