"""Shared by all tests: settings, and the genuine data beside the project where it is present."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import settings

SHARED = Path(__file__).parents[2] / "shared" / "data"

# Two noisy cores: how long an example takes says nothing. Derandomised, so that a red run is red again.
settings.register_profile("unweave", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("unweave")


@pytest.fixture
def empty_data_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with nothing in it."""
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The genuine data beside the project."""
    if not SHARED.exists():
        pytest.skip("the shared folder with genuine data is not beside the project")
    return SHARED


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
    from unweave.store.remote.address import open_remote
    from unweave.store.remote.objects import open_objects

    open_remote.cache_clear()
    name = "b" + json.dumps(str(tmp_path)).encode().hex()[-40:]
    open_objects(f"s3://{name}").system.mkdir(name)
    return f"s3://{name}/studies"
