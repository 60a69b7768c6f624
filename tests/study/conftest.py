from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.study.tiny import SPEC
from unweave.study import Study
from unweave.study.engines.worker import Task, Worker


def tasks(study: Study) -> list[Task]:
    """Return the tasks of a study, to be carried out in this process."""
    return list(study._tasks(None, {"threads": 1, "device": "cpu"}).values())


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the six finished runs of the tiny study, for reading only."""
    store = tmp_path_factory.mktemp("trained") / "store"
    worker = Worker()
    for task in tasks(Study(SPEC, store=store)):
        assert worker.carry_out(task).outcome == "finished"
    return store


@pytest.fixture
def copied(trained: Path, tmp_path: Path) -> Path:
    """A copy of the finished runs, to be changed."""
    return Path(shutil.copytree(trained, tmp_path / "copied", ignore=shutil.ignore_patterns("index.parquet")))
