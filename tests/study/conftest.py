from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.study.tiny import SPEC
from unweave.study import Study
from unweave.study.objects import Objects
from unweave.study.remote import open_remote
from unweave.study.worker import Task, Worker


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
    return Path(shutil.copytree(trained, tmp_path / "copied"))


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of an S3 server on this machine."""
    pytest.importorskip("s3fs")
    from moto.server import ThreadedMotoServer

    running = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def bucket(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a store in an empty bucket, with the environment that reaches it."""
    settings = {
        "AWS_ENDPOINT_URL": server,
        "AWS_ACCESS_KEY_ID": "someone",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "UNWEAVE_CACHE": str(tmp_path / "cache"),
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    open_remote.cache_clear()
    name = "b" + json.dumps(str(tmp_path)).encode().hex()[-40:]
    Objects(f"s3://{name}").system.mkdir(name)
    return f"s3://{name}/studies"
