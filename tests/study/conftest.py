from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.study.faulty_server import Proxy
from tests.study.hosts import Hosts, make_hosts
from tests.study.tiny import SPEC
from unweave.store.remote import objects as objects_module
from unweave.store.remote.address import open_remote
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


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    """Machines of their own, in namespaces."""
    yield from make_hosts(tmp_path)


@pytest.fixture
def proxy(bucket: str, server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """A proxy in front of the server, without faults at first, through which the store of ``bucket`` is reached."""
    import s3fs

    running = Proxy(server)
    monkeypatch.setenv("AWS_ENDPOINT_URL", running.address)
    monkeypatch.setattr(objects_module, "PAUSE", 0.01)
    s3fs.S3FileSystem.clear_instance_cache()
    open_remote.cache_clear()
    yield running
    running.close()
    s3fs.S3FileSystem.clear_instance_cache()
    open_remote.cache_clear()
